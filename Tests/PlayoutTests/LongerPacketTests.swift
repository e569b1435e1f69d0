import MediaCore
import Testing

@testable import Playout

/// A sender that goes over to longer packets sends each later, counted from its first frame: the
/// path is as fast as before.
struct LongerPacketTests {
  /// Packets that leave once their last frame is captured and the encoder has looked ahead, and
  /// take up to `jitter` nanoseconds more than the fastest.
  private struct Sender: ~Copyable {
    var target: DelayTarget
    private var mediaFrame: Int64 = 48_000
    private let start = MonotonicInstant(nanoseconds: 5_000_000_000)
    private var generator = SeededGenerator(seed: 7)

    private let jitter: Int64

    init(_ mechanisms: PlayoutMechanisms = PlayoutMechanisms(), jitter: Int64 = 0) {
      target = DelayTarget(mechanisms)
      self.jitter = jitter
    }

    mutating func send(_ count: Int, of frames: FrameCount) {
      let lookAhead = frames < 480 ? 120 : 312
      for _ in 0..<count {
        let captured = Int(mediaFrame) + frames + lookAhead
        let left = SampleRate.voice.nanoseconds(of: captured)
        target.update(
          mediaFrame: mediaFrame,
          frames: frames,
          arrival: start.advanced(
            byNanoseconds: left + Int64.random(in: 0...jitter, using: &generator)
          ),
          wait: 0
        )
        mediaFrame += Int64(frames)
      }
    }
  }

  private static func targetAfterTheChange(_ mechanisms: PlayoutMechanisms) -> Int64 {
    var sender = Sender(mechanisms, jitter: 20_000_000)
    sender.send(400, of: 240)
    sender.send(500, of: 480)
    return sender.target.nanoseconds
  }

  @Test func theChangeIsNotTakenForJitter() {
    // Without this it is remembered.
    var without = PlayoutMechanisms()
    without.longerPackets = false
    let remembered = Self.targetAfterTheChange(without)
    let target = Self.targetAfterTheChange(PlayoutMechanisms())
    #expect(target < 22_000_000 && remembered > target + 3_000_000, "\(target), \(remembered)")
  }

  @Test func shorterPacketsLowerTheBaselineAtOnce() {
    var sender = Sender()
    sender.send(200, of: 480)
    sender.send(20, of: 240)
    #expect(sender.target.nanoseconds < 1_000_000)
  }

  /// A sender may use two durations in turns; the fastest of its packets set the baseline.
  @Test func durationsInTurnsAreNoChange() {
    var sender = Sender()
    for _ in 0..<200 {
      sender.send(1, of: 480)
      sender.send(1, of: 960)
    }
    #expect(sender.target.nanoseconds > 9_000_000 && sender.target.nanoseconds < 14_000_000)
  }
}
