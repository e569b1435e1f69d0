/* alsa-lib. RT_SAFE marks the calls that the voice thread makes on an open, started PCM: on kernel
   devices they are system calls of the device itself and nothing else. */
#ifndef CALSA_H
#define CALSA_H

#include <string.h>
#include <stdio.h>
#include <stdarg.h>
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

/* The first two complaints of alsa-lib since that was last taken; threads may mix their lines up. Each object file that uses it has
   its own. */
static inline char *alsa_message(void) {
  static char message[256];
  return message;
}

static inline void alsa_keep_message(const char *file, int line, const char *function, int code,
                                     const char *format, ...) {
  (void)file, (void)line, (void)function, (void)code;
  /* The second line often names the file. */
  char *message = alsa_message();
  size_t length = strlen(message);
  if (strstr(message, "; ")) return;
  if (length) length += (size_t)snprintf(message + length, 256 - length, "; ");
  if (length >= 255) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message + length, 256 - length, format, arguments);
  va_end(arguments);
}

/* alsa-lib prints its complaints to standard error; ours are typed errors instead, with its first line where it knows more. */
static inline void alsa_silence_messages(void) {
  alsa_message()[0] = 0;
  snd_lib_error_set_handler(alsa_keep_message);
}

/* Copies alsa-lib's first complaint, empty if there was none. */
static inline void alsa_take_message(char *buffer, size_t capacity) {
  snprintf(buffer, capacity, "%s", alsa_message());
  alsa_message()[0] = 0;
}

/* The sides that a configured PCM has: 1 for capture, 2 for playback, 3 where its definition does not say. */
static inline int alsa_sides(const char *name) {
  snd_config_t *top = NULL, *definition = NULL, *part;
  const char *type = "";
  int sides = 3;
  if (snd_config_update_ref(&top) < 0 || !top) return sides;
  if (snd_config_search_definition(top, "pcm", name, &definition) >= 0) {
    if (snd_config_search(definition, "type", &part) >= 0) snd_config_get_string(part, &type);
    if (strcmp(type, "asym") == 0)
      sides = (snd_config_search(definition, "capture", &part) >= 0 ? 1 : 0) |
              (snd_config_search(definition, "playback", &part) >= 0 ? 2 : 0);
    snd_config_delete(definition);
  }
  snd_config_unref(top);
  return sides;
}

#endif
