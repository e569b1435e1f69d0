#ifndef CDBUS_H
#define CDBUS_H

#include <dbus/dbus.h>

/* A macro in libdbus. */
static inline DBusError dbus_error_empty(void) {
  DBusError error;
  dbus_error_init(&error);
  return error;
}

#endif
