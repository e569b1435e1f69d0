sidetone loopback --headset hw:CARD=Headset
