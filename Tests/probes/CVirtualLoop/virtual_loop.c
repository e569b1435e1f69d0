#define _GNU_SOURCE
#include "virtual_loop.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct datagram {
  struct datagram *next;
  int64_t at;
  int descriptor;
  struct sockaddr_in to;
  size_t length;
  uint8_t bytes[];
};

static _Thread_local bool is_virtual;
static _Thread_local int64_t virtual_now;
static _Thread_local struct datagram *first;
static _Thread_local int64_t (*arrival_of)(int64_t, uint16_t, int64_t, int);

static int real_wait(int epoll, struct epoll_event *events, int capacity, int timeout) {
  return (int)syscall(SYS_epoll_pwait, epoll, events, capacity, timeout, NULL, 0);
}

void virtual_loop_begin(int64_t (*arrival)(int64_t, uint16_t, int64_t, int)) {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  virtual_now = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
  arrival_of = arrival;
  is_virtual = true;
}

/* Those of one moment stay in the order in which they were sent. */
static void hold(int descriptor, const void *bytes, size_t length, const struct sockaddr_in *to, int64_t at) {
  struct datagram *held = malloc(sizeof *held + length);
  if (!held) abort();
  *held = (struct datagram){NULL, at, descriptor, *to, length};
  memcpy(held->bytes, bytes, length);
  struct datagram **place = &first;
  while (*place && (*place)->at <= at) place = &(*place)->next;
  held->next = *place;
  *place = held;
}

static void deliver(void) {
  struct datagram *held = first;
  first = held->next;
  if (held->at > virtual_now) virtual_now = held->at;
  syscall(SYS_sendto, held->descriptor, held->bytes, held->length, 0, &held->to, sizeof held->to);
  free(held);
}

/* True while another thread has something to do, and might hand it over to the loop: however busy the machine is, such a
   thread is in the state of one that runs. */
static bool is_another_thread_awake(void) {
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) abort();
  pid_t own = (pid_t)syscall(SYS_gettid);
  bool is_awake = false;
  for (struct dirent *task; !is_awake && (task = readdir(tasks));) {
    if (task->d_name[0] == '.' || atoi(task->d_name) == own) continue;
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", task->d_name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    text[length > 0 ? length : 0] = 0;
    const char *end = strrchr(text, ')');
    is_awake = end && end[1] && end[2] != 'S';
  }
  closedir(tasks);
  return is_awake;
}

int epoll_wait(int epoll, struct epoll_event *events, int capacity, int timeout) {
  if (!is_virtual) return real_wait(epoll, events, capacity, timeout);
  int64_t due = timeout < 0 ? INT64_MAX : virtual_now + timeout * INT64_C(1000000);
  for (;;) {
    int count = real_wait(epoll, events, capacity, 0);
    if (count != 0) return count;
    struct pollfd own = {epoll, POLLIN, 0};
    if (!first && timeout < 0) {
      poll(&own, 1, -1);
      continue;
    }
    if (is_another_thread_awake()) {
      sched_yield();
      continue;
    }
    // What it has handed over before it fell asleep.
    if (poll(&own, 1, 0) != 0) continue;
    if (first && first->at <= due) {
      deliver();
      continue;
    }
    virtual_now = due;
    return 0;
  }
}

ssize_t sendto(int descriptor, const void *bytes, size_t length, int flags, const struct sockaddr *to, socklen_t to_length) {
  int kind = 0;
  socklen_t size = sizeof kind;
  if (is_virtual && to && to->sa_family == AF_INET && to_length >= sizeof(struct sockaddr_in) &&
      getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &size) == 0 && kind == SOCK_DGRAM) {
    const struct sockaddr_in *address = (const struct sockaddr_in *)to;
    for (int number = 0; number < 2; number++) {
      int64_t at = arrival_of(virtual_now, ntohs(address->sin_port), (int64_t)length, number);
      if (at >= 0) hold(descriptor, bytes, length, address, at);
    }
    return (ssize_t)length;
  }
  return syscall(SYS_sendto, descriptor, bytes, length, flags, to, to_length);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  if (is_virtual && clock == CLOCK_MONOTONIC) {
    *now = (struct timespec){virtual_now / 1000000000, virtual_now % 1000000000};
    return 0;
  }
  return (int)syscall(SYS_clock_gettime, clock, now);
}
