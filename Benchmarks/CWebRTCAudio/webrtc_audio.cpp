#include "webrtc_audio.h"

#include <memory>
#include <new>

#include "webrtc/modules/audio_processing/include/audio_processing.h"

struct webrtc_audio {
  std::unique_ptr<webrtc::AudioProcessing> processing;
  bool has_echo;
};

static const int rate = 48000;
static const size_t frames = 480;

webrtc_audio *webrtc_audio_alloc(int echo, int noise, int gain) {
  auto *audio = new (std::nothrow) webrtc_audio;
  if (!audio) return nullptr;
  audio->processing.reset(webrtc::AudioProcessing::Create());
  audio->has_echo = echo != 0;
  int code = audio->processing ? 0 : -1;
  if (!code && echo) code = audio->processing->echo_cancellation()->Enable(true);
  if (!code && noise) code = audio->processing->noise_suppression()->set_level(webrtc::NoiseSuppression::kHigh);
  if (!code && noise) code = audio->processing->noise_suppression()->Enable(true);
  if (!code && gain) code = audio->processing->gain_control()->set_mode(webrtc::GainControl::kAdaptiveDigital);
  if (!code && gain) code = audio->processing->gain_control()->Enable(true);
  if (!code) return audio;
  delete audio;
  return nullptr;
}

void webrtc_audio_free(webrtc_audio *audio) { delete audio; }

int webrtc_audio_process(webrtc_audio *audio, float *microphone, const float *far) {
  auto &processing = *audio->processing;
  const auto mono = webrtc::AudioProcessing::kMono;
  if (audio->has_echo) {
    if (int code = processing.AnalyzeReverseStream(&far, frames, rate, mono)) return code;
    if (int code = processing.set_stream_delay_ms(0)) return code;
  }
  return processing.ProcessStream(&microphone, frames, rate, mono, rate, mono, &microphone);
}
