#define _GNU_SOURCE
#include "raw_voice.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <opus/opus.h>
#include <poll.h>
#include <sched.h>
#include <speex/speex_echo.h>
#include <speex/speex_preprocess.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 240, TAIL = 2400 };

struct raw_voice {
  int frames;
  OpusEncoder *encoder;
  OpusDecoder *decoder;
  SpeexEchoState *echo;
  SpeexPreprocessState *preprocessor;
  float filtered[2880];
};

raw_voice *raw_voice_open(int frames, int bitrate, int filters) {
  int code = 0;
  raw_voice *voice = calloc(1, sizeof *voice);
  voice->frames = frames;
  voice->encoder = opus_encoder_create(
      48000, 1, frames < 480 ? OPUS_APPLICATION_RESTRICTED_LOWDELAY : OPUS_APPLICATION_VOIP, &code);
  if (!code) voice->decoder = opus_decoder_create(48000, 1, &code);
  if (code) return NULL;
  opus_encoder_ctl(voice->encoder, OPUS_SET_COMPLEXITY(9));
  opus_encoder_ctl(voice->encoder, OPUS_SET_SIGNAL(OPUS_SIGNAL_VOICE));
  opus_encoder_ctl(voice->encoder, OPUS_SET_BITRATE(bitrate));
  if (filters) {
    int rate = 48000, on = 1;
    voice->echo = speex_echo_state_init(BLOCK, TAIL);
    speex_echo_ctl(voice->echo, SPEEX_ECHO_SET_SAMPLING_RATE, &rate);
    voice->preprocessor = speex_preprocess_state_init(BLOCK, rate);
    speex_preprocess_ctl(voice->preprocessor, SPEEX_PREPROCESS_SET_DENOISE, &on);
    speex_preprocess_ctl(voice->preprocessor, SPEEX_PREPROCESS_SET_AGC, &on);
    speex_preprocess_ctl(voice->preprocessor, SPEEX_PREPROCESS_SET_VAD, &on);
    speex_preprocess_ctl(voice->preprocessor, SPEEX_PREPROCESS_SET_ECHO_STATE, voice->echo);
  }
  return voice;
}

static int64_t nanoseconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t raw_processor_nanoseconds(void) { return nanoseconds(CLOCK_THREAD_CPUTIME_ID); }

static void filter(raw_voice *voice, const float *input, const float *far) {
  for (int begin = 0; begin < voice->frames; begin += BLOCK) {
    int16_t microphone[BLOCK], reference[BLOCK], clean[BLOCK];
    for (int i = 0; i < BLOCK; i++) {
      microphone[i] = (int16_t)(input[begin + i] * 32767);
      reference[i] = (int16_t)(far[begin + i] * 32767);
    }
    speex_echo_cancellation(voice->echo, microphone, reference, clean);
    speex_preprocess_run(voice->preprocessor, clean);
    for (int i = 0; i < BLOCK; i++) voice->filtered[begin + i] = clean[i] / 32768.0f;
  }
}

static void turn(raw_voice *voice, const float *input, float *output) {
  unsigned char packet[1276];
  const float *voiced = input;
  if (voice->echo) {
    filter(voice, input, output);
    voiced = voice->filtered;
  }
  int length = opus_encode_float(voice->encoder, voiced, voice->frames, packet, sizeof packet);
  if (length <= 0) return;
  int decoded = opus_decode_float(voice->decoder, packet, length, output, 5760, 0);
  (void)decoded;
}

int64_t raw_voice_turn(raw_voice *voice, const float *input, float *output) {
  int64_t begin = raw_processor_nanoseconds();
  turn(voice, input, output);
  return raw_processor_nanoseconds() - begin;
}

/* A datagram socket of this machine that is connected to itself. */
static int own_socket(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int file = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (file >= 0 && !bind(file, (struct sockaddr *)&address, size) &&
      !getsockname(file, (struct sockaddr *)&address, &size) &&
      !connect(file, (struct sockaddr *)&address, size))
    return file;
  if (file >= 0) close(file);
  return -1;
}

int64_t raw_voice_call(raw_voice *voice, const float *speech, int64_t count, int packets) {
  int64_t period = (int64_t)voice->frames * 1000000000 / 48000;
  struct timespec each = {period / 1000000000, period % 1000000000};
  struct itimerspec setting = {each, each};
  float output[5760] = {0};
  /* The voice thread is measured from its second second on. */
  int64_t begin = raw_processor_nanoseconds(), place = 48000;
  int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), file = own_socket();
  timerfd_settime(timer, 0, &setting, NULL);
  while (packets > 0 && file >= 0 && timer >= 0) {
    struct pollfd waited = {timer, POLLIN, 0};
    uint64_t passed = 0;
    poll(&waited, 1, -1);
    if (read(timer, &passed, sizeof passed) != sizeof passed) break;
    for (; passed > 0 && packets > 0; passed--, packets--) {
      unsigned char packet[1500];
      const float *voiced = speech + place;
      place = (place + voice->frames) % (count - voice->frames);
      if (voice->echo) {
        filter(voice, voiced, output);
        voiced = voice->filtered;
      }
      int length = opus_encode_float(voice->encoder, voiced, voice->frames, packet, sizeof packet);
      if (length > 0) send(file, packet, length, 0);
      while ((length = recv(file, packet, sizeof packet, 0)) > 0)
        length = opus_decode_float(voice->decoder, packet, length, output, 5760, 0);
    }
  }
  if (file >= 0) close(file);
  if (timer >= 0) close(timer);
  return packets > 0 ? -1 : raw_processor_nanoseconds() - begin;
}

void raw_voice_close(raw_voice *voice) {
  opus_encoder_destroy(voice->encoder);
  opus_decoder_destroy(voice->decoder);
  if (voice->echo) {
    speex_echo_state_destroy(voice->echo);
    speex_preprocess_state_destroy(voice->preprocessor);
  }
  free(voice);
}

int64_t raw_thread_nanoseconds(const char *name) {
  DIR *threads = opendir("/proc/self/task");
  int64_t found = -1;
  struct dirent *entry;
  while (threads && found < 0 && (entry = readdir(threads))) {
    char path[64], title[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%.16s/comm", entry->d_name);
    FILE *file = fopen(path, "r");
    if (!file) continue;
    if (!fgets(title, sizeof title, file)) title[0] = 0;
    fclose(file);
    title[strcspn(title, "\n")] = 0;
    if (strcmp(title, name)) continue;
    snprintf(path, sizeof path, "/proc/self/task/%.16s/schedstat", entry->d_name);
    file = fopen(path, "r");
    long long spent;
    if (file && fscanf(file, "%lld", &spent) == 1) found = spent;
    if (file) fclose(file);
  }
  if (threads) closedir(threads);
  return found;
}

static cpu_set_t all_processors;

int raw_thread_keep_to_one_processor(void) {
  if (sched_getaffinity(0, sizeof all_processors, &all_processors)) return -1;
  int first = 0;
  while (first < CPU_SETSIZE - 1 && !CPU_ISSET(first, &all_processors)) first++;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  return sched_setaffinity(0, sizeof one, &one);
}

int raw_thread_use_all_processors(void) {
  return CPU_COUNT(&all_processors) ? sched_setaffinity(0, sizeof all_processors, &all_processors) : 0;
}
