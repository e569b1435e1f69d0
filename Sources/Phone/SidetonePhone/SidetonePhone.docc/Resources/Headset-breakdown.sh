sidetone loopback --headset hw:CARD=Headset --breakdown --plot delay.svg
