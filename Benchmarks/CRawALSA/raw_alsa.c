#include "raw_alsa.h"

#include <alsa/asoundlib.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

void *raw_alsa_open(const char *device, int is_capture, int mode, unsigned long period,
                    unsigned long buffer) {
  snd_pcm_t *pcm = NULL;
  snd_pcm_stream_t stream = is_capture ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK;
  if (snd_pcm_open(&pcm, device, stream, mode)) return NULL;
  snd_pcm_hw_params_t *params;
  unsigned rate = 48000;
  snd_pcm_hw_params_alloca(&params);
  snd_pcm_hw_params_any(pcm, params);
  snd_pcm_hw_params_set_access(pcm, params, SND_PCM_ACCESS_RW_INTERLEAVED);
  snd_pcm_hw_params_set_format(pcm, params, SND_PCM_FORMAT_FLOAT);
  snd_pcm_hw_params_set_channels(pcm, params, 1);
  snd_pcm_hw_params_set_rate_near(pcm, params, &rate, NULL);
  snd_pcm_hw_params_set_period_size_near(pcm, params, &period, NULL);
  snd_pcm_hw_params_set_buffer_size_near(pcm, params, &buffer);
  if (snd_pcm_hw_params(pcm, params) || snd_pcm_prepare(pcm)) {
    snd_pcm_close(pcm);
    return NULL;
  }
  return pcm;
}

double raw_alsa_activation(const char *device) {
  static const float silence[256];
  double begin = now();
  snd_pcm_t *capture = raw_alsa_open(device, 1, SND_PCM_NONBLOCK, 120, 3840);
  snd_pcm_t *playback = raw_alsa_open(device, 0, SND_PCM_NONBLOCK, 120, 3840);
  double taken = -1;
  if (capture && playback) {
    snd_pcm_start(capture);
    snd_pcm_writei(playback, silence, 256);
    snd_pcm_start(playback);
    taken = now() - begin;
  }
  if (capture) snd_pcm_close(capture);
  if (playback) snd_pcm_close(playback);
  return taken;
}
