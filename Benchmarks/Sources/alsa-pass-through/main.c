/* alsa-pass-through CAPTURE PLAYBACK: moves samples with two periods queued; starts again after a fault. */
#include <alsa/asoundlib.h>
#include <sched.h>
#include <stdio.h>

enum { PERIOD = 128 };

static snd_pcm_t *opened(const char *device, snd_pcm_stream_t stream) {
  snd_pcm_t *pcm;
  if (snd_pcm_open(&pcm, device, stream, 0) < 0) return NULL;
  snd_pcm_hw_params_t *params;
  unsigned rate = 48000;
  snd_pcm_uframes_t period = PERIOD, buffer = 4 * PERIOD;
  snd_pcm_hw_params_alloca(&params);
  snd_pcm_hw_params_any(pcm, params);
  snd_pcm_hw_params_set_access(pcm, params, SND_PCM_ACCESS_RW_INTERLEAVED);
  snd_pcm_hw_params_set_format(pcm, params, SND_PCM_FORMAT_FLOAT);
  snd_pcm_hw_params_set_channels(pcm, params, 1);
  snd_pcm_hw_params_set_rate_near(pcm, params, &rate, NULL);
  snd_pcm_hw_params_set_period_size_near(pcm, params, &period, NULL);
  snd_pcm_hw_params_set_buffer_size_near(pcm, params, &buffer);
  if (snd_pcm_hw_params(pcm, params) < 0) return NULL;
  return pcm;
}

static void begin(snd_pcm_t *capture, snd_pcm_t *playback) {
  static const float silence[2 * PERIOD];
  snd_pcm_drop(capture);
  snd_pcm_drop(playback);
  snd_pcm_prepare(capture);
  snd_pcm_prepare(playback);
  snd_pcm_writei(playback, silence, 2 * PERIOD);
  snd_pcm_start(capture);
  snd_pcm_start(playback);
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  struct sched_param priority = {20};
  sched_setscheduler(0, SCHED_FIFO, &priority);
  snd_pcm_t *capture = opened(arguments[1], SND_PCM_STREAM_CAPTURE);
  snd_pcm_t *playback = opened(arguments[2], SND_PCM_STREAM_PLAYBACK);
  if (!capture || !playback) {
    fprintf(stderr, "alsa-pass-through: cannot open the devices\n");
    return 1;
  }
  begin(capture, playback);
  float period[PERIOD];
  while (1) {
    snd_pcm_sframes_t frames = snd_pcm_readi(capture, period, PERIOD);
    if (frames > 0) frames = snd_pcm_writei(playback, period, (snd_pcm_uframes_t)frames);
    if (frames < 0) begin(capture, playback);
  }
}
