/* The size of a terminal: ioctl has a variable number of arguments, which Swift cannot call. And whether a signal is ignored:
   Swift cannot compare its handler with SIG_IGN. */
#ifndef CTERMINAL_H
#define CTERMINAL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>

static inline bool terminal_size(int descriptor, int *columns, int *rows) {
  struct winsize size;
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return false;
  *columns = size.ws_col;
  *rows = size.ws_row;
  return true;
}

static inline bool signal_is_ignored(int number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

#endif
