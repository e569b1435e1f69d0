import MediaCore
import Testing

struct InstantTests {
  @Test func instantsAreComparedAndMeasured() {
    let early = MonotonicInstant(nanoseconds: 1_000)
    let late = early.advanced(byNanoseconds: 2_500_000)
    #expect(early < late && !(late < early) && late == early.advanced(by: .microseconds(2_500)))
    #expect(late.nanoseconds(since: early) == 2_500_000)
    #expect(early.nanoseconds(since: late) == -2_500_000)
    #expect(late.advanced(byNanoseconds: -2_500_000) == early)
  }

  @Test func timestampsGoRoundTheirClock() {
    let last = RTPTimestamp(rawValue: .max)
    let first = last.advanced(by: 1)
    #expect(first.rawValue == 0)
    #expect(first.ticks(since: last) == 1 && last.ticks(since: first) == -1)
    #expect(first.advanced(by: -1) == last)
  }

  @Test func distanceIsTheShorterWayRound() {
    for step in [0, 1, 960, 48_000, 1 << 30, (1 << 31) - 1] {
      for start: UInt32 in [0, 12_345, 1 << 31, .max - 5] {
        let origin = RTPTimestamp(rawValue: start)
        #expect(origin.advanced(by: step).ticks(since: origin) == step)
        #expect(origin.ticks(since: origin.advanced(by: step)) == -step)
      }
    }
  }
}
