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

  /// libre calls these functions through the dynamic linker, which finds this program's first.
  @Test func libreFindsTheReplacements() {
    #expect(LibreProof.missing.isEmpty)
    #expect(unsafe re_calls_by_name("accept"))
    #expect(unsafe !re_calls_by_name("sip_no_such_function"))
  }
}
