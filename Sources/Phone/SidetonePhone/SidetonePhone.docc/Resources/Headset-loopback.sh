sidetone loopback
