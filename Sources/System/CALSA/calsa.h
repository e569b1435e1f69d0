/* alsa-lib. RT_SAFE marks the calls that the voice thread makes on an open, started PCM: on kernel
   devices they are system calls of the device itself and nothing else. */
#ifndef CALSA_H
#define CALSA_H

#include <alsa/asoundlib.h>
#include <alsa/use-case.h>

#define RT_SAFE __attribute__((swift_attr("@_noAllocation"), swift_attr("@_noLocks")))

RT_SAFE static inline long alsa_read(snd_pcm_t *pcm, void *frames, unsigned long count) {
  return snd_pcm_readi(pcm, frames, count);
}

RT_SAFE static inline long alsa_write(snd_pcm_t *pcm, const void *frames, unsigned long count) {
  return snd_pcm_writei(pcm, frames, count);
}

RT_SAFE static inline long alsa_available(snd_pcm_t *pcm) { return snd_pcm_avail(pcm); }

/* The delay in frames, or a negative error. */
RT_SAFE static inline long alsa_delay(snd_pcm_t *pcm) {
  snd_pcm_sframes_t frames = 0;
  int code = snd_pcm_delay(pcm, &frames);
  return code < 0 ? code : frames < 0 ? 0 : frames;
}

RT_SAFE static inline int alsa_prepare(snd_pcm_t *pcm) { return snd_pcm_prepare(pcm); }

RT_SAFE static inline int alsa_start(snd_pcm_t *pcm) { return snd_pcm_start(pcm); }

/* Tries to resume a suspended stream; -EAGAIN while the system is not ready. */
RT_SAFE static inline int alsa_resume(snd_pcm_t *pcm) { return snd_pcm_resume(pcm); }

RT_SAFE static inline void alsa_acknowledge(snd_pcm_t *pcm, struct pollfd *descriptors,
                                            unsigned count) {
  unsigned short events = 0;
  snd_pcm_poll_descriptors_revents(pcm, descriptors, count, &events);
}

/* Writes all descriptors to poll and returns how many, 0 if there is no space. Some plugins look
   here whether one of them is to be ready still. */
RT_SAFE static inline int alsa_poll_descriptors(snd_pcm_t *pcm, struct pollfd *descriptors,
                                                int space) {
  int count = snd_pcm_poll_descriptors_count(pcm);
  int written = count > space ? 0 : snd_pcm_poll_descriptors(pcm, descriptors, count);
  return written > 0 ? written : 0;
}

static inline void alsa_discard_message(const char *file, int line, const char *function, int code,
                                        const char *format, ...) {
  (void)file, (void)line, (void)function, (void)code, (void)format;
}

/* alsa-lib prints its complaints to standard error; ours are typed errors instead. */
static inline void alsa_silence_messages(void) {
  snd_lib_error_set_handler(alsa_discard_message);
}

#endif
