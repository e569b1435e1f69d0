#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

/* Allocations (malloc, calloc, realloc, aligned) made so far by threads named "voice". */
long allocation_counter_voice(void);

/* Allocations made so far by all threads, to show that the counter counts. */
long allocation_counter_all(void);

#endif
