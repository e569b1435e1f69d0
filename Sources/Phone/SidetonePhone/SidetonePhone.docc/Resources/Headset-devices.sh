sidetone devices
