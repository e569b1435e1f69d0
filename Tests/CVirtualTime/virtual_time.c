#include "virtual_time.h"

#include <sys/time.h>
#include <time.h>

static _Thread_local int64_t set_time;
static _Thread_local uint64_t count;

void virtual_time_set(int64_t nanoseconds) { set_time = nanoseconds; }

uint64_t virtual_time_count(void) { return count; }

/* Takes the place of glibc's in programs that lld links. */
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  if (set_time) {
    count++;
    *now = (struct timeval){set_time / 1000000000, set_time % 1000000000 / 1000};
    return 0;
  }
  struct timespec real;
  if (clock_gettime(CLOCK_REALTIME, &real)) return -1;
  *now = (struct timeval){real.tv_sec, real.tv_nsec / 1000};
  return 0;
}
