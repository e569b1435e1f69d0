import Foundation
import MediaCore
import Simulation
import Testing

@testable import Playout

struct OutputBufferTests {
  private static func tone(_ frames: Int, hertz: Double, from start: Int = 0) -> [Float] {
    (start..<start + frames).map { Float(0.5 * sin(2 * Double.pi * hertz * Double($0) / 48_000)) }
  }

  private static func read(_ queue: inout OutputBuffer, _ frames: Int, ratio: Double = 1) -> [Float]
  {
    var output = SampleBuffer(repeating: 0, count: frames)
    let count = queue.read(addingTo: &output, in: 0..<frames, ratio: ratio)
    return (0..<count).map { output[$0] }
  }

  @Test func whatGoesInComesOutUnchangedAtRatioOne() {
    var queue = OutputBuffer()
    let tone = Self.tone(4_800, hertz: 300)
    queue.append(SampleBuffer(tone), count: tone.count)
    #expect(Self.read(&queue, 4_000) == Array(tone.prefix(4_000)))
  }

  @Test(arguments: [1_000.0, 7_000, 10_000])
  func resamplingKeepsHighTones(hertz: Double) {
    var queue = OutputBuffer()
    let tone = Self.tone(12_000, hertz: hertz)
    queue.append(SampleBuffer(tone), count: tone.count)
    // Every fraction of a sample comes by.
    let played = Self.read(&queue, 10_000, ratio: 1.000_2)
    let least = stride(from: 0, to: 9_600, by: 480).map { start in
      played[start..<start + 480].reduce(0) { $0 + $1 * $1 } / 480
    }.min()
    // 0.2 dB of 0.125.
    #expect(least ?? 0 > 0.125 * 0.955)
  }

  @Test func manyPacketsPassThroughTheSameMemory() {
    var queue = OutputBuffer()
    var played: [Float] = []
    for packet in 0..<400 {
      let tone = Self.tone(960, hertz: 300, from: packet * 960)
      queue.append(SampleBuffer(tone), count: 960)
      played += Self.read(&queue, 950)
    }
    #expect(played.elementsEqual(Self.tone(400 * 960, hertz: 300).prefix(played.count)))
    #expect(queue.count == 400 * 10 - 3)
  }

  @Test(arguments: [0.999_8, 1.000_2])
  func memoryThatIsUsedAgainIsNotHeard(ratio: Double) {
    let tone = Self.tone(32_640, hertz: 300)
    var whole = OutputBuffer()
    whole.append(SampleBuffer(tone), count: tone.count)
    var parts = OutputBuffer()
    for packet in 0..<34 {
      let part = Array(tone[packet * 960..<(packet + 1) * 960])
      parts.append(SampleBuffer(part), count: 960)
      let played = Self.read(&parts, 940, ratio: ratio)
      #expect(played == Self.read(&whole, 940, ratio: ratio))
    }
  }

  @Test func shorteningRemovesAWholePeriodWithoutAStep() {
    var queue = OutputBuffer()
    let tone = Self.tone(1_920, hertz: 200)
    queue.append(SampleBuffer(tone), count: tone.count)
    let before = queue.count
    let removed = queue.shorten(limit: 720, isUrgent: true)
    #expect(removed > 0 && removed % 240 <= 4 || removed % 240 >= 236)
    #expect(queue.count == before - removed)
    let played = Self.read(&queue, queue.count)
    let steepest = zip(played, played.dropFirst()).map { abs($0 - $1) }.max() ?? 1
    // A 200 Hz tone of 0.5 never moves more than 0.0131 a sample.
    #expect(steepest < 0.02)
  }

  @Test func lengtheningRepeatsAWholePeriodWithoutAStep() {
    var queue = OutputBuffer()
    let tone = Self.tone(1_920, hertz: 200)
    queue.append(SampleBuffer(tone), count: tone.count)
    let before = queue.count
    let added = queue.lengthen(limit: 720)
    #expect(added > 0)
    #expect(queue.count == before + added)
    let played = Self.read(&queue, queue.count)
    let steepest = zip(played, played.dropFirst()).map { abs($0 - $1) }.max() ?? 1
    #expect(steepest < 0.02)
  }

  @Test func speechIsNotCutUnlessUrgentAndSilenceAlways() {
    var queue = OutputBuffer()
    queue.append(SampleBuffer(Self.tone(1_920, hertz: 200)), count: 1_920)
    let spoken = queue.shorten(limit: 720, isUrgent: false)
    #expect(spoken == 0)
    var pause = OutputBuffer()
    pause.append(SampleBuffer(repeating: 0.000_1, count: 1_920), count: 1_920)
    let silent = pause.shorten(limit: 720, isUrgent: false)
    #expect(silent > 0)
  }

  @Test func onlyWhatCannotBeHeardIsQuiet() {
    var queue = OutputBuffer()
    queue.append(SampleBuffer(repeating: 0.001, count: 60), count: 60)
    let short = queue.isQuiet
    #expect(!short, "too little to tell")
    queue.append(SampleBuffer(repeating: 0.001, count: 960), count: 960)
    let pause = queue.isQuiet
    #expect(pause)
    queue.append(SampleBuffer(Self.tone(240, hertz: 200)), count: 240)
    let speech = queue.isQuiet
    #expect(!speech)
    _ = Self.read(&queue, 1_260)
    queue.append(SampleBuffer(repeating: 0.001, count: 960), count: 960)
    let after = queue.isQuiet
    #expect(after, "what was heard does not count")
  }

  @Test func noiseHasNoPeriodToCut() {
    var random = SeededGenerator(seed: 7)
    let noise = (0..<1_920).map { _ in Float.random(in: -0.5...0.5, using: &random) }
    var queue = OutputBuffer()
    queue.append(SampleBuffer(noise), count: noise.count)
    let removed = queue.shorten(limit: 720, isUrgent: true)
    #expect(removed == 0)
  }

  @Test func ratioStretchesTimeByThatMuch() {
    var queue = OutputBuffer()
    let tone = Self.tone(9_600, hertz: 300)
    queue.append(SampleBuffer(tone), count: tone.count)
    let before = queue.count
    _ = Self.read(&queue, 5_000, ratio: 1.002)
    #expect(abs(before - queue.count - 5_010) <= 1)
  }
}
