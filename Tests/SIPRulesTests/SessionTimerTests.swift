import MediaCore
import Testing

@testable import SIPRules

/// Session timers (RFC 4028), in virtual time.
struct SessionTimerTests {
  private let start = MonotonicInstant(nanoseconds: 5)

  private func seconds(_ timer: SessionTimer?) -> Int64? {
    timer.map { $0.next.at.nanoseconds(since: start) / 1_000_000_000 }
  }

  @Test func theSideThatIsNamedRefreshesAtHalfTime() throws {
    let caller = try #require(SessionTimer("1800;refresher=uac", isCaller: true, at: start))
    #expect(caller.isRefresher && caller.next.step == .refresh && seconds(caller) == 900)
    let callee = try #require(SessionTimer(" 1800 ; Refresher = UAC", isCaller: false, at: start))
    #expect(!callee.isRefresher && callee.next.step == .end && seconds(callee) == 1_768)
    #expect(SessionTimer("600;refresher=uas", isCaller: false, at: start)?.isRefresher == true)
    #expect(SessionTimer("600", isCaller: true, at: start)?.isRefresher == true)
    // The third of a short interval is less than 32 s.
    #expect(seconds(SessionTimer("90", isCaller: false, at: start)) == 60)
  }

  /// A proxy may ask in the place of a caller that knows no timers.
  @Test func thisSideRefreshesForOneThatKnowsNoTimers() throws {
    let timer = try #require(SessionTimer("90", isCaller: false, isShared: false, at: start))
    #expect(timer.isRefresher && !timer.isShared && timer.next.step == .refresh)
    #expect(timer.header(isCaller: false) == "Session-Expires: 90;refresher=uas\r\n")
  }

  @Test func aRefreshThatIsLostIsRepeatedUntilTheEnd() throws {
    var timer = SessionTimer(seconds: 90, isRefresher: true, at: start)
    #expect(timer.next.step == .refresh && seconds(timer) == 45)
    timer.refreshWasLost(at: start.advanced(by: .seconds(46)))
    #expect(timer.next.step == .refresh && seconds(timer) == 56)
    timer.refreshWasLost(at: start.advanced(by: .seconds(57)))
    #expect(timer.next.step == .end && seconds(timer) == 60)
    timer.restart(at: start.advanced(by: .seconds(100)))
    #expect(timer.next.step == .refresh && seconds(timer) == 145)
  }

  @Test(arguments: ["", "x", "-5", "0", ";refresher=uac", "99999999999999999999"])
  func nonsenseIsNoTimer(header: String) {
    #expect(SessionTimer(header, isCaller: true, at: start) == nil)
  }

  @Test func intervalsHaveLimits() {
    #expect(SessionTimer("1", isCaller: true, at: start)?.seconds == 90)
    #expect(SessionTimer("999999999", isCaller: true, at: start)?.seconds == 86_400)
  }

  /// The same side refreshes, though the other one may send the next request.
  @Test func theRefresherIsNamedFromEachSide() throws {
    let timer = try #require(SessionTimer("1800;refresher=uas", isCaller: false, at: start))
    #expect(timer.header(isCaller: false) == "Session-Expires: 1800;refresher=uas\r\n")
    #expect(timer.header(isCaller: true) == "Session-Expires: 1800;refresher=uac\r\n")
  }

  @Test func anIntervalThatIsTooShortIsAskedForOnceMore() {
    var interval = SessionInterval()
    #expect(interval.headers == "Session-Expires: 1800\r\nMin-SE: 90\r\n")
    for (status, header) in [(486, "3600"), (422, ""), (422, "x"), (422, "90"), (422, "86401")] {
      let retries = interval.retries(after: status, shortest: header)
      #expect(!retries, "\(status) \(header)")
    }
    let again = interval.retries(after: 422, shortest: " 120 ;x")
    #expect(again)
    #expect(interval.headers == "Session-Expires: 1800\r\nMin-SE: 120\r\n")
    let onceMore = interval.retries(after: 422, shortest: "3600")
    #expect(onceMore)
    #expect(interval.headers == "Session-Expires: 3600\r\nMin-SE: 3600\r\n")
    let endless = interval.retries(after: 422, shortest: "3601")
    #expect(!endless)
  }
}
