/* What Swift cannot import: variadic ioctl and syscall, GNU's setns and posix_spawn extensions. */
#ifndef CRIG_H
#define CRIG_H

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Opens a new TUN device in the network namespace of that name (ip-netns) and returns its descriptor,
   or -errno. The calling thread is back in its own namespace afterwards. */
static inline int tunnel_open(const char *space, const char *device) {
  char path[128];
  snprintf(path, sizeof path, "/run/netns/%s", space);
  int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  int other = open(path, O_RDONLY | O_CLOEXEC);
  int descriptor = -1, code = 0;
  if (own < 0 || other < 0 || syscall(SYS_setns, other, 0x40000000 /* CLONE_NEWNET */)) {
    code = errno;
  } else {
    descriptor = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) code = errno;
    struct ifreq request;
    memset(&request, 0, sizeof request);
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    strncpy(request.ifr_name, device, sizeof request.ifr_name - 1);
    if (!code && ioctl(descriptor, TUNSETIFF, &request)) code = errno;
    if (syscall(SYS_setns, own, 0x40000000)) code = errno;
  }
  if (own >= 0) close(own);
  if (other >= 0) close(other);
  if (!code) return descriptor;
  if (descriptor >= 0) close(descriptor);
  return -code;
}

/* Closes in the new process all descriptors but the standard ones (glibc 2.34), whoever opened them. */
static inline int rig_close_others(posix_spawn_file_actions_t *actions) {
  extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);
  return posix_spawn_file_actions_addclosefrom_np(actions, 3);
}

/* Changes the new process's folder (glibc 2.29). */
static inline int rig_change_folder(posix_spawn_file_actions_t *actions, const char *folder) {
  extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *, const char *);
  return posix_spawn_file_actions_addchdir_np(actions, folder);
}

/* A descriptor that can be read once the process has ended (pidfd_open(2)), or -errno. */
static inline int rig_process_descriptor(pid_t process) {
  int descriptor = (int)syscall(SYS_pidfd_open, process, 0u);
  return descriptor < 0 ? -errno : descriptor;
}

/* Waits until one of the descriptors, two at most, can be read or the time is over. */
static inline void tunnel_wait(const int *descriptors, unsigned count, int64_t nanoseconds) {
  struct pollfd polled[2];
  struct timespec timeout = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  for (unsigned i = 0; i < count && i < 2; i++) polled[i] = (struct pollfd){descriptors[i], POLLIN, 0};
  extern int ppoll(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
  ppoll(polled, count < 2 ? count : 2, &timeout, NULL);
}

#endif
