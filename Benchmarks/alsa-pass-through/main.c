/* alsa-pass-through CAPTURE PLAYBACK: moves samples with two periods queued; starts again after a fault. */
#include <alsa/asoundlib.h>
#include <sched.h>
#include <stdio.h>

#include "raw_alsa.h"

enum { PERIOD = 128 };

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
  snd_pcm_t *capture = raw_alsa_open(arguments[1], 1, 0, PERIOD, 4 * PERIOD);
  snd_pcm_t *playback = raw_alsa_open(arguments[2], 0, 0, PERIOD, 4 * PERIOD);
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
