import Testing

@testable import DeviceTiming

struct StallWatchdogTests {
  @Test func alarmIsRaisedOnceAndTakenBackOnce() {
    var side = StallWatchdog(periodNanoseconds: 2_500_000)
    var changes: [Bool] = []
    for _ in 0..<1_000 {
      if let change = side.pass(nanoseconds: 2_500_000) { changes.append(change) }
    }
    #expect(changes == [true])
    side.noteMoved()
    for _ in 0..<10 { if let change = side.pass(nanoseconds: 2_500_000) { changes.append(change) } }
    #expect(changes == [true, false])
  }

  @Test func programThatWasStoppedBlamesNoDevice() {
    var side = StallWatchdog(periodNanoseconds: 2_500_000)
    let change = side.pass(nanoseconds: 10_000_000_000)
    #expect(change == nil)
  }

  @Test func slowDeviceHasItsPeriods() {
    var side = StallWatchdog(periodNanoseconds: 1_000_000_000)
    for _ in 0..<79 {
      let change = side.pass(nanoseconds: 50_000_000)
      #expect(change == nil)
    }
    let change = side.pass(nanoseconds: 50_000_000)
    #expect(change == true)
    // One turn for each period.
    var calm = StallWatchdog(periodNanoseconds: 1_000_000_000)
    let turns = (0..<4).map { _ in calm.pass(nanoseconds: 1_000_000_000) }
    #expect(turns == [nil, nil, nil, true])
  }
}
