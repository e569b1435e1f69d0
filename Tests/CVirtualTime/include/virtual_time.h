/* The clock that OpenSSL's timers run by, in the hands of a test: gettimeofday(2) of this process. */
#ifndef VIRTUAL_TIME_H
#define VIRTUAL_TIME_H

#include <stdint.h>

/* Sets the time of the calling thread, in nanoseconds since 1970; 0 for the machine's own again. */
void virtual_time_set(int64_t nanoseconds);

/* How often the calling thread has asked for a time that was set. */
uint64_t virtual_time_count(void);

#endif
