import MediaCore
import Testing

@testable import AudioRouting

struct ServerPaceTests {
  private var pace = ServerPace()
  private static let period: Int64 = 2_500_000

  private mutating func look(_ second: Int64, _ frames: Int64) -> Int64? {
    let now = MonotonicInstant(nanoseconds: second * 1_000_000_000)
    return pace.note(frames: frames, at: now, period: Self.period)
  }

  /// A buffer of 480 frames in cycles of 1,024 moves 22,500 frames a second.
  @Test mutating func cycleIsSeenByTheFramesThatAreLeft() throws {
    var found: [Int64?] = []
    for second in 0..<5 { found.append(look(Int64(second), Int64(second) * 22_500)) }
    let cycle = try #require(found[3])
    #expect(abs(cycle - 21_333_333) < 1_000 && found[..<3] == [nil, nil, nil])
    #expect(found[4] == nil, "devices are opened again meanwhile")
  }

  @Test mutating func usualPaceAndDriftAreNoNews() {
    for second in 0..<100 {
      let found = look(Int64(second), Int64(second) * 47_950)
      #expect(found == nil)
    }
  }

  @Test mutating func aServerThatStandsStillIsNotSlow() {
    for second in 0..<10 {
      let found = look(Int64(second), 48_000)
      #expect(found == nil)
    }
  }

  @Test mutating func slowSecondsNowAndThenProveNothing() {
    let frames: [Int64] = [0, 48_000, 70_000, 92_000, 140_000, 162_000, 184_000, 232_000]
    for (second, count) in frames.enumerated() {
      let found = look(Int64(second), count)
      #expect(found == nil)
    }
  }

  /// A buffer of four periods of 10 ms lacks little of a cycle of 2,048 frames.
  @Test mutating func cycleThatIsLittleLongerThanTheBufferIsSeen() throws {
    var found: Int64?
    for second in 0..<4 {
      let now = MonotonicInstant(nanoseconds: Int64(second) * 1_000_000_000)
      found = pace.note(frames: Int64(second) * 45_000, at: now, period: 10_000_000)
    }
    #expect(abs(try #require(found) - 42_666_666) < 1_000)
  }

  /// Devices would be opened again and again.
  @Test mutating func nothingIsLongerThanTheLongestPeriod() {
    for second in 0..<10 {
      let now = MonotonicInstant(nanoseconds: Int64(second) * 1_000_000_000)
      let found = pace.note(frames: Int64(second) * 20_000, at: now, period: 85_333_333)
      #expect(found == nil)
    }
  }
}
