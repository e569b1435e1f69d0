/* A voice through libopus and libspeexdsp in plain C calls, with Sidetone's settings: what a call costs
   without Sidetone. */
#ifndef RAW_VOICE_H
#define RAW_VOICE_H

#include <stdint.h>

typedef struct raw_voice raw_voice;

/* A voice in packets of so many frames at 48 kHz; filters: echo cancellation, noise suppression and gain
   control in blocks of 240 frames. NULL if a library refuses. */
raw_voice *raw_voice_open(int frames, int bitrate, int filters);

/* Filters, encodes and decodes the frames of one packet; returns the processor nanoseconds of this thread
   that it took. What was decoded goes to output. */
int64_t raw_voice_turn(raw_voice *voice, const float *input, float *output);

void raw_voice_close(raw_voice *voice);

/* Makes a call of so many packets to itself: waits for a timer, does the same as a turn with the next of the
   count frames of speech, sends the packet to itself over UDP and decodes what it receives. The least that a
   caller without headset, jitter buffer and RTP must do. Returns the processor nanoseconds of this thread that
   it took; -1 if the system refused a timer or a socket. */
int64_t raw_voice_call(raw_voice *voice, const float *speech, int64_t count, int packets);

/* Processor nanoseconds of the thread of this process that has that name; -1 if there is none. */
int64_t raw_thread_nanoseconds(const char *name);

/* Keeps this thread, and the threads and programs that it starts from now on, to one of the processors that they may
   use, or lets them use all that they could before. Returns 0, or -1 with errno. */
int raw_thread_keep_to_one_processor(void);
int raw_thread_use_all_processors(void);

#endif
