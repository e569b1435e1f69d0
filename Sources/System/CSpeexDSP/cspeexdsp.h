/* SpeexDSP. RT_SAFE marks calls that were read and neither allocate nor lock: all memory is got at
   creation. (The resampler allocates when its rate changes; here it never does.) */
#ifndef CSPEEXDSP_H
#define CSPEEXDSP_H

#include <speex/speex_echo.h>
#include <speex/speex_preprocess.h>
#include <speex/speex_resampler.h>

#define RT_SAFE __attribute__((swift_attr("@_noAllocation"), swift_attr("@_noLocks")))

RT_SAFE static inline void speexdsp_cancel(SpeexEchoState *state, const int16_t *microphone,
                                           const int16_t *reference, int16_t *output) {
  speex_echo_cancellation(state, microphone, reference, output);
}

RT_SAFE static inline void speexdsp_cancel_reset(SpeexEchoState *state) {
  speex_echo_state_reset(state);
}

RT_SAFE static inline int speexdsp_preprocess(SpeexPreprocessState *state, int16_t *samples) {
  return speex_preprocess_run(state, samples);
}

/* How likely the last block was speech, in per cent, by its noise estimate. */
RT_SAFE static inline int speexdsp_speech_percent(SpeexPreprocessState *state) {
  int percent = 0;
  speex_preprocess_ctl(state, SPEEX_PREPROCESS_GET_PROB, &percent);
  return percent;
}

/* By how many decibels a second gain control may raise its gain. */
RT_SAFE static inline void speexdsp_set_gain_rise(SpeexPreprocessState *state, int decibels) {
  speex_preprocess_ctl(state, SPEEX_PREPROCESS_SET_AGC_INCREMENT, &decibels);
}

RT_SAFE static inline int speexdsp_resample(SpeexResamplerState *state, const float *input,
                                            uint32_t *consumed, float *output,
                                            uint32_t *produced) {
  return speex_resampler_process_float(state, 0, input, consumed, output, produced);
}

RT_SAFE static inline void speexdsp_resample_reset(SpeexResamplerState *state) {
  speex_resampler_reset_mem(state);
}

#endif
