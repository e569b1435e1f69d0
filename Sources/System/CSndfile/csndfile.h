/* libsndfile, for reading sounds from memory: functions that a file in memory is read by have to be C's. */
#ifndef CSNDFILE_H
#define CSNDFILE_H

#include <sndfile.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A file in memory, which its user keeps, and a place in it. */
struct sound_memory {
  const uint8_t *bytes;
  sf_count_t length;
  sf_count_t place;
};

static inline sf_count_t sound_memory_length(void *user) { return ((struct sound_memory *)user)->length; }

static inline sf_count_t sound_memory_seek(sf_count_t offset, int whence, void *user) {
  struct sound_memory *memory = (struct sound_memory *)user;
  sf_count_t base = whence == SEEK_CUR ? memory->place : whence == SEEK_END ? memory->length : 0;
  sf_count_t place;
  /* Beyond the end is allowed, as in a file: the library does not come to an end where it is refused. */
  if (__builtin_add_overflow(base, offset, &place) || place < 0) return -1;
  memory->place = place;
  return place;
}

static inline sf_count_t sound_memory_read(void *target, sf_count_t count, void *user) {
  struct sound_memory *memory = (struct sound_memory *)user;
  sf_count_t left = memory->place < memory->length ? memory->length - memory->place : 0;
  if (count > left) count = left;
  if (count <= 0) return 0;
  memcpy(target, memory->bytes + memory->place, (size_t)count);
  memory->place += count;
  return count;
}

static inline sf_count_t sound_memory_write(const void *source, sf_count_t count, void *user) {
  (void)source, (void)count, (void)user;
  return 0;
}

static inline sf_count_t sound_memory_tell(void *user) { return ((struct sound_memory *)user)->place; }

/* Opens a sound in memory; NULL if it is none that the library reads. */
static inline SNDFILE *sound_open(struct sound_memory *memory, SF_INFO *info) {
  SF_VIRTUAL_IO io = {sound_memory_length, sound_memory_seek, sound_memory_read, sound_memory_write,
                      sound_memory_tell};
  memset(info, 0, sizeof *info);
  return sf_open_virtual(&io, SFM_READ, info, memory);
}

#endif
