import MediaCore
import Testing

@testable import VoiceEngine

struct EchoReferenceTests {
  /// A microphone and a loudspeaker with clocks of their own, 120 frames at a time; each sample
  /// that sounds names its position.
  private struct Sides: ~Copyable {
    var reference = EchoReference()
    private var block = SampleBuffer(repeating: 0, count: 120)
    private var generator = SystemlessGenerator()
    private var written: Int64 = 0
    private var captured: Int64 = 0
    private let rate: Double
    private var silence: Int64 = 0
    /// Frames that are kept queued ahead of the loudspeaker.
    private let fill: Int64 = 240
    private(set) var resets = 0

    init(ppm: Double) { rate = 1 + ppm / 1e6 }

    /// Position of the reference for the newest captured frames, minus that of the sound then
    /// played, in frames.
    mutating func error() -> Int64 {
      reference.copy(from: captured - 120, count: 1, into: &block)
      let given = Int64((block[0] * 65_536).rounded())
      let sounded = Int64(Double(captured + silence - 120) * rate)
      return (given - sounded % 65_536 + 65_536 + 32_768) % 65_536 - 32_768
    }

    /// Leaves the loudspeaker without sound for 100 ms.
    mutating func standStill() { silence += 4_800 }

    mutating func turn() {
      captured += 120
      let sounding = Int64(Double(captured + silence) * rate)
      // The loudspeaker asks for what is missing, in whole blocks.
      while written < sounding + fill {
        for index in 0..<120 {
          block[index] = Float((written + Int64(index)) % 65_536) / 65_536
        }
        reference.append(block, count: 120)
        written += 120
      }
      // What devices say of their delay trembles.
      let noise = Int64(generator.next() % 121) - 60
      if reference.align(captured: captured, delay: Int(written - sounding + noise)) {
        resets += 1
      }
    }
  }

  private struct SystemlessGenerator {
    private var state: UInt32 = 1

    mutating func next() -> UInt32 {
      state = state &* 1_664_525 &+ 1_013_904_223
      return state >> 8
    }
  }

  @Test(arguments: [-100.0, 0, 50, 300])
  func driftingCardsStayAlignedWithoutLearningAnew(ppm: Double) {
    var sides = Sides(ppm: ppm)
    var worst: Int64 = 0
    // Ten minutes.
    for turn in 0..<240_000 {
      sides.turn()
      if turn > 4_000, turn % 100 == 0 { worst = max(worst, abs(sides.error())) }
    }
    #expect(sides.resets == 1 && worst < 60, "off by \(worst) frames at most")
  }

  @Test func faultMovesItAtOnce() {
    var sides = Sides(ppm: 0)
    for _ in 0..<1_000 { sides.turn() }
    let before = sides.resets
    sides.standStill()
    for _ in 0..<10 { sides.turn() }
    #expect(before == 1 && sides.resets == 2)
    #expect(abs(sides.error()) < 70)
  }
}
