/* libopus, with its variadic controls made plain. RT_SAFE marks calls that were read and neither
   allocate nor lock: encoder and decoder work in the memory they got at creation and on the stack. */
#ifndef COPUS_H
#define COPUS_H

#include <opus/opus.h>
#include <string.h>

#define RT_SAFE __attribute__((swift_attr("@_noAllocation"), swift_attr("@_noLocks")))

RT_SAFE static inline int opus_voice_encode(OpusEncoder *encoder, const float *samples, int frames,
                                            unsigned char *packet, int capacity) {
  return opus_encode_float(encoder, samples, frames, packet, capacity);
}

RT_SAFE static inline int opus_voice_decode(OpusDecoder *decoder, const unsigned char *packet,
                                            int length, float *samples, int frames,
                                            int redundancy) {
  return opus_decode_float(decoder, packet, length, samples, frames, redundancy);
}

/* A decoder is one piece of memory without pointers into itself, which may be copied (documentation of OpusDecoder). */
RT_SAFE static inline void opus_voice_copy_decoder(const OpusDecoder *decoder, OpusDecoder *copy,
                                                   int size) {
  memcpy(copy, decoder, (size_t)size);
}

RT_SAFE static inline int opus_voice_packet_frames(const unsigned char *packet, int length) {
  return opus_packet_get_nb_samples(packet, length, 48000);
}

/* RFC 6716 section 4.2.3: a flag of activity for each 20 ms and one of redundancy, for each channel. CELT has none. */
RT_SAFE static inline int opus_voice_redundant_frames(const unsigned char *packet, int length) {
  const unsigned char *frames[48];
  opus_int16 sizes[48];
  if (length < 1 || packet[0] & 0x80) return 0;
  if (opus_packet_parse(packet, length, NULL, frames, sizes, NULL) < 1 || sizes[0] < 2) return 0;
  int duration = opus_packet_get_samples_per_frame(packet, 48000);
  int parts = duration > 960 ? duration / 960 : 1;
  int isMarked = frames[0][0] >> (7 - parts) & 1;
  if (opus_packet_get_nb_channels(packet) == 2) isMarked |= frames[0][0] >> (6 - 2 * parts) & 1;
  return isMarked ? duration : 0;
}

RT_SAFE static inline int opus_voice_set_bitrate(OpusEncoder *encoder, int value) {
  return opus_encoder_ctl(encoder, OPUS_SET_BITRATE(value));
}

RT_SAFE static inline int opus_voice_set_redundancy(OpusEncoder *encoder, int value) {
  return opus_encoder_ctl(encoder, OPUS_SET_INBAND_FEC(value));
}

RT_SAFE static inline int opus_voice_set_loss(OpusEncoder *encoder, int percent) {
  return opus_encoder_ctl(encoder, OPUS_SET_PACKET_LOSS_PERC(percent));
}

RT_SAFE static inline int opus_voice_set_dtx(OpusEncoder *encoder, int value) {
  return opus_encoder_ctl(encoder, OPUS_SET_DTX(value));
}

RT_SAFE static inline int opus_voice_set_constant(OpusEncoder *encoder, int value) {
  return opus_encoder_ctl(encoder, OPUS_SET_VBR(!value));
}

RT_SAFE static inline int opus_voice_set_independent(OpusEncoder *encoder, int value) {
  return opus_encoder_ctl(encoder, OPUS_SET_PREDICTION_DISABLED(value));
}

RT_SAFE static inline int opus_voice_reset(OpusEncoder *encoder) {
  return opus_encoder_ctl(encoder, OPUS_RESET_STATE);
}

static inline int opus_voice_configure(OpusEncoder *encoder, int complexity) {
  int code = opus_encoder_ctl(encoder, OPUS_SET_COMPLEXITY(complexity));
  if (code == OPUS_OK) code = opus_encoder_ctl(encoder, OPUS_SET_SIGNAL(OPUS_SIGNAL_VOICE));
  return code;
}

/* From libopus 1.5 on. Earlier decoders answer OPUS_UNIMPLEMENTED, and are as they were. */
static inline int opus_voice_set_decoder_complexity(OpusDecoder *decoder, int complexity) {
  return opus_decoder_ctl(decoder, OPUS_SET_COMPLEXITY(complexity));
}

static inline int opus_voice_lookahead(OpusEncoder *encoder) {
  opus_int32 frames = 0;
  opus_encoder_ctl(encoder, OPUS_GET_LOOKAHEAD(&frames));
  return (int)frames;
}

#endif
