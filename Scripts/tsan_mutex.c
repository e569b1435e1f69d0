// Tells ThreadSanitizer what Synchronization.Mutex does when it is contended.
//
// The two slow paths live in a library that is not instrumented, so a lock that was waited for looks
// like no lock at all, and correct code like a race. Preloaded, these stand in front of them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

typedef SWIFT void (*lock_slow)(uint32_t, SELF);
typedef SWIFT void (*unlock_slow)(SELF);

SWIFT void mutex_lock_slow(uint32_t thread, SELF) __asm__(LOCK_SLOW);
SWIFT void mutex_unlock_slow(SELF) __asm__(UNLOCK_SLOW);

SWIFT void mutex_lock_slow(uint32_t thread, SELF) {
  ((lock_slow)dlsym(RTLD_NEXT, LOCK_SLOW))(thread, self);
  if (__tsan_acquire != NULL) __tsan_acquire(self);
}

SWIFT void mutex_unlock_slow(SELF) {
  if (__tsan_release != NULL) __tsan_release(self);
  ((unlock_slow)dlsym(RTLD_NEXT, UNLOCK_SLOW))(self);
}
