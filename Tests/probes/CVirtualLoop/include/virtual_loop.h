#ifndef VIRTUAL_LOOP_H
#define VIRTUAL_LOOP_H

#include <stdint.h>

/* The event loop of the calling thread in virtual time: its waits in epoll_wait() end at once and move its clocks on, once all
   other threads sleep. Datagrams of IPv4 that it sends arrive when `arrival` says, by two calls with
   `number` 0 and 1, at most; a negative time is that of one that is lost, or of no copy. Takes the place of glibc's functions
   in programs that lld links. */
void virtual_loop_begin(int64_t (*arrival)(int64_t now, uint16_t port, int64_t length, int number));

/* A TURN server (RFC 8656) by UDP on 127.0.0.1 with one user, on the event loop of libre's that the calling thread runs;
   returns its port, or 0 if it cannot listen. It never answers the first `unheard` ports that ask it, 8 at most.
   A former one ends, with all its relayed addresses. */
uint16_t relay_server_begin(const char *user, const char *password, unsigned unheard);
void relay_server_end(void);

#endif
