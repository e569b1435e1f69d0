sidetone check --headset hw:CARD=Headset --seconds 60
