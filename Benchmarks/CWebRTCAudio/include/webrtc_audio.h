#ifndef WEBRTC_AUDIO_H
#define WEBRTC_AUDIO_H

#ifdef __cplusplus
extern "C" {
#endif

/* WebRTC's audio processing of Debian (libwebrtc-audio-processing1) over blocks of 10 ms, mono at 48 kHz. */
struct webrtc_audio;

/* The filters that are asked for, at their usual strength; NULL if one is refused, or without memory. */
struct webrtc_audio *webrtc_audio_alloc(int echo, int noise, int gain);
void webrtc_audio_free(struct webrtc_audio *audio);

/* Filters 480 samples of the microphone in place; `far` is what the loudspeaker played at the time. Returns 0, or an error. */
int webrtc_audio_process(struct webrtc_audio *audio, float *microphone, const float *far);

#ifdef __cplusplus
}
#endif

#endif
