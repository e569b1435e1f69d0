/* The size of a terminal: ioctl has a variable number of arguments, which Swift cannot call. */
#ifndef CTERMINAL_H
#define CTERMINAL_H

#include <stdbool.h>
#include <sys/ioctl.h>

static inline bool terminal_size(int descriptor, int *columns, int *rows) {
  struct winsize size;
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return false;
  *columns = size.ws_col;
  *rows = size.ws_row;
  return true;
}

#endif
