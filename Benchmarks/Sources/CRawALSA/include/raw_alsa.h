#ifndef RAW_ALSA_H
#define RAW_ALSA_H

/* Opens, sets, starts and closes both directions of a device as plainly as ALSA allows; returns how long
   it took until both ran, in milliseconds, or less than zero if the device is not to be had. */
double raw_alsa_activation(const char *device);

#endif
