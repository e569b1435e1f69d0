import CLibre
import Glibc
import MediaCore
import RealTime
import Testing

@testable import SIPSignalling

/// libre's time is the monotonic clock's, whatever the wall clock shows.
struct LoopTimeTests {
  @Test func timersRunByTheMonotonicClock() {
    let before = MonotonicClock.now().nanoseconds / 1_000_000
    let now = Int64(tmr_jiffies())
    let after = MonotonicClock.now().nanoseconds / 1_000_000
    #expect((before...after).contains(now))
  }

  /// The dynamic linker finds this program's function first, so libre calls it as well.
  @Test(arguments: [
    "re_fprintf", "sip_request_loops", "stun_reply", "tcp_accept", "tmr_jiffies",
  ])
  func libreFindsTheReplacement(name: String) {
    let names = ["libre.so.0", "libre.so.1"]
    let libre = unsafe names.lazy.compactMap { unsafe dlopen($0, RTLD_NOW | RTLD_NOLOAD) }.first
    defer { if let libre = unsafe libre { unsafe dlclose(libre) } }
    let first = unsafe dlsym(nil, name)
    let own = unsafe libre.flatMap { unsafe dlsym($0, name) }
    #expect(unsafe first != nil && own != nil && first != own)
  }
}
