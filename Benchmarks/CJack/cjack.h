#include <jack/jack.h>

/* jack_client_open is variadic. */
static inline jack_client_t *jack_open_plain(const char *name, jack_status_t *status) {
  return jack_client_open(name, JackNoStartServer, status);
}
