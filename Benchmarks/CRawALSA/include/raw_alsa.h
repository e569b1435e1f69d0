#ifndef RAW_ALSA_H
#define RAW_ALSA_H

/* Opens one direction of a device at 48 kHz, mono, float, with the nearest period and buffer, in frames, and
   mode of snd_pcm_open; a snd_pcm_t, or NULL if it is not to be had. */
void *raw_alsa_open(const char *device, int is_capture, int mode, unsigned long period,
                    unsigned long buffer);

/* Opens, sets, starts and closes both directions of a device as plainly as ALSA allows; returns how long
   it took until both ran, in milliseconds, or less than zero if the device is not to be had. */
double raw_alsa_activation(const char *device);

#endif
