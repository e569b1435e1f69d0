import MediaCore
import Testing

@testable import Playout

/// In-band FEC: a packet brings the one before it once more, or the end of that.
struct RecoveryTests {
  private static let first: Int64 = 70_000

  @Test func lostPacketIsRecoveredFromTheNextWhenThatIsThere() {
    var stream = VirtualStream()
    // Jitter has taught the buffer to hold more than a packet back.
    stream.send(0..<300) { $0 == 250 ? nil : $0 % 5 == 0 ? 25 : 5 }
    stream.run(milliseconds: 2_400)
    let before = stream.buffer.counters.recoveredFrames
    stream.run(milliseconds: 500)
    #expect(stream.buffer.counters.recoveredFrames - before == 480)
    #expect(!stream.decoded.contains(Self.first + 250))
    #expect(stream.decoded.contains(Self.first + 251))
  }

  @Test func lossOfTwoIsConcealedFirstAndThenRecovered() {
    var stream = VirtualStream(packetFrames: 960)
    stream.send(0..<300) { $0 == 250 || $0 == 251 ? nil : $0 % 5 == 0 ? 70 : 5 }
    stream.run(milliseconds: 4_900)
    let before = stream.buffer.counters.recoveredFrames
    stream.run(milliseconds: 900)
    let played = stream.steps.suffix(200).filter {
      if case .decode = $0 { false } else { true }
    }
    #expect(stream.buffer.counters.recoveredFrames - before == 960)
    guard case .recover = played.last(where: { if case .recover = $0 { true } else { false } })
    else {
      Issue.record("no recovery")
      return
    }
    #expect(stream.decoded.contains(Self.first + 252))
  }

  @Test func lateCopyCountsOnce() {
    var stream = VirtualStream(redundantFrames: 0)
    stream.send(0..<300) { $0 == 250 ? nil : 5 }
    stream.run(milliseconds: 2_900)
    var outcomes: [JitterBuffer.Insertion] = []
    for _ in 0..<2 {
      let outcome = stream.buffer.insertCopy(
        sequence: Self.first + 250,
        mediaFrame: 1 << 40 + 250 * 480,
        frames: 480,
        isSilence: false,
        distance: 480
      )
      outcomes.append(outcome)
    }
    #expect(outcomes == [.late, .duplicate])
  }

  /// The first of three Opus frames brings the last one of the packet before.
  @Test func packetOfSeveralFramesIsRecoveredInPart() throws {
    var stream = VirtualStream(packetFrames: 2_880, redundantFrames: 960)
    stream.send(0..<100) { $0 == 80 ? nil : $0 % 5 == 0 ? 130 : 5 }
    stream.run(milliseconds: 4_700)
    let before = stream.buffer.counters
    stream.run(milliseconds: 600)
    let after = stream.buffer.counters
    #expect(after.recoveredFrames - before.recoveredFrames == 960)
    #expect(after.concealedFrames - before.concealedFrames == 1_920)
    let place = try #require(
      stream.steps.lastIndex { if case .recover = $0 { true } else { false } }
    )
    guard case .recover(_, 960, 0, 1_920) = stream.steps[place],
      case .decode(_, 2_880, 0) = stream.steps[place + 1]
    else {
      Issue.record("\(stream.steps[place...place + 1])")
      return
    }
  }

  @Test func redundancyThatComesTooLateStillReachesTheDecoder() throws {
    var stream = VirtualStream()
    stream.send(0..<400) { $0 == 200 ? nil : 5 }
    stream.run(milliseconds: 3_900)
    let place = try #require(
      stream.steps.firstIndex { if case .recover = $0 { true } else { false } }
    )
    guard case .recover(_, 480, 480, 0) = stream.steps[place],
      case .decode(_, 480, 0) = stream.steps[place + 1]
    else {
      Issue.record("\(stream.steps[place...place + 1])")
      return
    }
    #expect(stream.buffer.counters.recoveredFrames == 0)
  }
}
