/* What the voice thread may call. Each function below was read and neither allocates nor takes a
   lock that another thread holds while it waits; RT_SAFE tells the Swift compiler so. */
#ifndef CREALTIME_H
#define CREALTIME_H

#include <errno.h>
#include <fcntl.h>
#include <time.h>

#include <linux/errqueue.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <unistd.h>

#define RT_SAFE __attribute__((swift_attr("@_noAllocation"), swift_attr("@_noLocks")))

RT_SAFE static inline int64_t realtime_monotonic_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

RT_SAFE static inline int64_t realtime_wall_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Waits up to timeout_ns (rounded to the clock, -1 for ever); returns poll's result or -errno. */
RT_SAFE static inline int realtime_poll(struct pollfd *descriptors, unsigned count,
                                        int64_t timeout_ns) {
  struct timespec timeout = {timeout_ns / 1000000000, timeout_ns % 1000000000};
  extern int ppoll(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
  int ready = ppoll(descriptors, count, timeout_ns < 0 ? NULL : &timeout, NULL);
  return ready < 0 ? -errno : ready;
}

/* Whether something keeps the wall clock right (adjtimex(2)): 1 or 0, or -1 if the system does not say. */
static inline int system_clock_is_synchronized(void) {
  struct timex state = {0};
  int code = adjtimex(&state);
  return code < 0 ? -1 : code != TIME_ERROR && !(state.status & STA_UNSYNC);
}

/* Runs a script by sh with these ends of pipes as its input and output, and nothing else of this process; its identifier,
   or -errno. */
static inline int helper_spawn(const char *script, int input, int output) {
  extern char **environ;
  extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);
  const char *const arguments[] = {"sh", "-c", script, NULL};
  posix_spawn_file_actions_t actions;
  pid_t child = 0;
  int code = posix_spawn_file_actions_init(&actions);
  if (code) return -code;
  if (!(code = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO))
      && !(code = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO))
      && !(code = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0))
      && !(code = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)))
    code = posix_spawn(&child, "/bin/sh", &actions, NULL, (char *const *)arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  return code ? -code : child;
}

/* Both ends of a pipe, closed in programs that this one starts; 0 or -errno. */
static inline int pipe_for_itself(int ends[2]) {
  extern int pipe2(int[2], int);
  return pipe2(ends, O_CLOEXEC) < 0 ? -errno : 0;
}

/* A new file in memory, which is closed in programs that this one starts, or -errno. */
static inline int system_memory_file(void) {
  int file = (int)syscall(SYS_memfd_create, "", 1u /* MFD_CLOEXEC */);
  return file < 0 ? -errno : file;
}

/* A new eventfd, or -errno. */
static inline int realtime_event_open(void) {
  int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  return descriptor < 0 ? -errno : descriptor;
}

/* Adds one to an eventfd. */
RT_SAFE static inline void realtime_event_signal(int descriptor) {
  uint64_t one = 1;
  ssize_t written = write(descriptor, &one, sizeof one);
  (void)written;
}

/* Empties an eventfd or timerfd and returns its count, 0 if there was nothing. */
RT_SAFE static inline uint64_t realtime_event_take(int descriptor) {
  uint64_t count = 0;
  return read(descriptor, &count, sizeof count) == sizeof count ? count : 0;
}

/* Lets a timerfd fire each period_ns from now on; 0 or -errno. */
RT_SAFE static inline int realtime_timer_restart(int descriptor, int64_t period_ns) {
  struct timespec period = {period_ns / 1000000000, period_ns % 1000000000};
  struct itimerspec setting = {period, period};
  return timerfd_settime(descriptor, 0, &setting, NULL) < 0 ? -errno : 0;
}

/* A timerfd that fires each period_ns from now on; the descriptor or -errno. */
static inline int realtime_timer_open(int64_t period_ns) {
  int descriptor = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (descriptor < 0) return -errno;
  int code = realtime_timer_restart(descriptor, period_ns);
  if (code < 0) close(descriptor);
  return code < 0 ? code : descriptor;
}

typedef struct {
  struct sockaddr_storage source;
  int64_t wall_nanoseconds; /* kernel arrival time (SO_TIMESTAMPNS), 0 if there is none */
} realtime_arrival;

/* Receives one datagram without waiting: its length, or -errno. */
RT_SAFE static inline ssize_t realtime_receive(int descriptor, void *buffer, size_t capacity,
                                               realtime_arrival *arrival) {
  union {
    char bytes[256];
    struct cmsghdr aligned;
  } control;
  struct iovec part = {buffer, capacity};
  struct msghdr message = {0};
  message.msg_name = &arrival->source;
  message.msg_namelen = sizeof arrival->source;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  arrival->wall_nanoseconds = 0;
  ssize_t length = recvmsg(descriptor, &message, MSG_DONTWAIT);
  if (length < 0) return -errno;
  for (struct cmsghdr *item = CMSG_FIRSTHDR(&message); item; item = CMSG_NXTHDR(&message, item)) {
    if (item->cmsg_level != SOL_SOCKET) continue;
    if (item->cmsg_type == SO_TIMESTAMPNS) {
      struct timespec stamp;
      memcpy(&stamp, CMSG_DATA(item), sizeof stamp);
      arrival->wall_nanoseconds = (int64_t)stamp.tv_sec * 1000000000 + stamp.tv_nsec;
    }
  }
  return length;
}

/* True if two addresses have the same host; the port counts only if with_port is set. */
RT_SAFE static inline int realtime_same_address(const struct sockaddr_storage *left,
                                                const struct sockaddr_storage *right,
                                                int with_port) {
  if (left->ss_family != right->ss_family) return 0;
  if (left->ss_family == AF_INET6) {
    const struct sockaddr_in6 *a = (const struct sockaddr_in6 *)left;
    const struct sockaddr_in6 *b = (const struct sockaddr_in6 *)right;
    return memcmp(&a->sin6_addr, &b->sin6_addr, sizeof a->sin6_addr) == 0 &&
           (!with_port || a->sin6_port == b->sin6_port);
  }
  const struct sockaddr_in *a = (const struct sockaddr_in *)left;
  const struct sockaddr_in *b = (const struct sockaddr_in *)right;
  return a->sin_addr.s_addr == b->sin_addr.s_addr && (!with_port || a->sin_port == b->sin_port);
}

/* What stands for an address where there is no room for it, with its port or without; never 0. Others cannot find two addresses
   with the same without knowing `key`. */
RT_SAFE static inline uint64_t realtime_address_mark(const struct sockaddr_storage *address,
                                                     int with_port, uint64_t key) {
  uint64_t words[3] = {0, 0, 0};
  if (address->ss_family == AF_INET6) {
    const struct sockaddr_in6 *named = (const struct sockaddr_in6 *)address;
    memcpy(words, &named->sin6_addr, sizeof named->sin6_addr);
    words[2] = (uint64_t)with_port << 32 | (with_port ? named->sin6_port : 0);
  } else {
    const struct sockaddr_in *named = (const struct sockaddr_in *)address;
    words[0] = named->sin_addr.s_addr;
    words[2] = (uint64_t)with_port << 32 | (with_port ? named->sin_port : 0);
  }
  uint64_t mark = key;
  for (int i = 0; i < 3; i++) {
    mark = (mark ^ words[i]) * 0x9e3779b97f4a7c15u + key;
    mark ^= mark >> 29;
    mark *= 0xbf58476d1ce4e5b9u;
    mark ^= mark >> 32;
  }
  return mark | 1;
}

/* Takes one queued ICMP error (IP_RECVERR): its errno, or 0 if there is none, and where the datagram was sent that it is
   about. */
RT_SAFE static inline int realtime_take_error(int descriptor,
                                              struct sockaddr_storage *destination) {
  union {
    char bytes[512];
    struct cmsghdr aligned;
  } control;
  char payload[64];
  struct iovec part = {payload, sizeof payload};
  struct msghdr message = {0};
  message.msg_name = destination;
  message.msg_namelen = sizeof *destination;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  if (recvmsg(descriptor, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return 0;
  for (struct cmsghdr *item = CMSG_FIRSTHDR(&message); item; item = CMSG_NXTHDR(&message, item)) {
    if ((item->cmsg_level == IPPROTO_IP && item->cmsg_type == IP_RECVERR) ||
        (item->cmsg_level == IPPROTO_IPV6 && item->cmsg_type == IPV6_RECVERR)) {
      struct sock_extended_err error;
      memcpy(&error, CMSG_DATA(item), sizeof error);
      return (int)error.ee_errno;
    }
  }
  return EIO;
}

/* Sends one datagram without waiting: its length, or -errno. */
RT_SAFE static inline ssize_t realtime_send(int descriptor, const void *bytes, size_t length,
                                            const struct sockaddr_storage *destination) {
  socklen_t size = destination->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                      : sizeof(struct sockaddr_in);
  ssize_t sent = sendto(descriptor, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL,
                        (const struct sockaddr *)destination, size);
  return sent < 0 ? -errno : sent;
}

/* A socket that becomes readable when an address or a route of this machine changes; -1 if there is none. */
static inline int network_watch_open(void) {
  struct sockaddr_nl name = {0};
  name.nl_family = AF_NETLINK;
  name.nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
  int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  if (descriptor < 0) return -1;
  if (bind(descriptor, (struct sockaddr *)&name, sizeof name) == 0) return descriptor;
  close(descriptor);
  return -1;
}

/* Nanoseconds that this machine has slept since it started, in suspend. */
static inline int64_t realtime_slept_nanoseconds(void) {
  struct timespec awake, all;
  clock_gettime(CLOCK_MONOTONIC, &awake);
  clock_gettime(CLOCK_BOOTTIME, &all);
  return ((int64_t)all.tv_sec - awake.tv_sec) * 1000000000 + all.tv_nsec - awake.tv_nsec;
}

/* Passes a datagram on, with where it came from in front, without waiting; a full queue drops it. */
RT_SAFE static inline void realtime_hand_over(int descriptor, const struct sockaddr_storage *source,
                                              const void *bytes, size_t length) {
  struct iovec parts[2] = {{(void *)source, sizeof *source}, {(void *)bytes, length}};
  struct msghdr message = {0};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  sendmsg(descriptor, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Names the calling thread, as debuggers and ps show it (15 characters). */
static inline void realtime_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

/* Keeps in memory what is mapped, and later pages from their first touch on; 0 or an errno. */
static inline int realtime_lock_memory(void) {
  return mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) < 0 ? errno : 0;
}

#define REALTIME_RESET_ON_FORK 0x40000000 /* SCHED_RESET_ON_FORK */

/* Asks for SCHED_FIFO on the calling thread; 0 or an errno. A child of fork() does not inherit it. */
static inline int realtime_request_fifo(int priority) {
  struct sched_param parameter = {0};
  parameter.sched_priority = priority;
  return pthread_setschedparam(pthread_self(), SCHED_FIFO | REALTIME_RESET_ON_FORK, &parameter);
}

/* The calling thread as the kernel knows it. */
static inline int realtime_thread_identifier(void) { return (int)syscall(SYS_gettid); }

/* Whether that thread of this process has a real-time policy, from whatever source. */
static inline int realtime_is_scheduled(int thread) {
  int policy = sched_getscheduler(thread);
  if (policy < 0) return 0;
  policy &= ~REALTIME_RESET_ON_FORK;
  return policy == SCHED_FIFO || policy == SCHED_RR;
}

/* Limits how long real-time threads of this process may run without a pause, in microseconds, unless there is a
   stricter limit; 0 or an errno. */
static inline int realtime_limit(unsigned long microseconds) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_RTTIME, &limit) < 0) return errno;
  if (limit.rlim_max > microseconds) limit.rlim_max = microseconds;
  if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_RTTIME, &limit) < 0 ? errno : 0;
}

#endif
