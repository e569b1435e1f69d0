import Foundation
import MediaCore
import Simulation
import Testing

@testable import Playout

struct SpeechRepairTests {
  // Four harmonics of 130 Hz, whose period of 369.2 frames is no part of any packet.
  private static func voice(_ frames: Range<Int>) -> [Float] {
    frames.map { frame in
      let phase = 2 * Double.pi * 130 * Double(frame) / 48_000
      return Float((1...4).reduce(0.0) { $0 + 0.2 * sin(phase * Double($1)) / Double($1) })
    }
  }

  private static func queue(_ parts: [[Float]]) -> OutputBuffer {
    var queue = OutputBuffer()
    for part in parts where !part.isEmpty { queue.append(SampleBuffer(part), count: part.count) }
    return queue
  }

  private static func read(_ queue: inout OutputBuffer, _ frames: Int) -> [Float] {
    var output = SampleBuffer(repeating: 0, count: frames)
    let count = queue.read(addingTo: &output, in: 0..<frames, ratio: 1)
    return (0..<count).map { output[$0] }
  }

  private static func power(_ samples: some Sequence<Float>) -> Float {
    samples.reduce(0) { $0 + $1 * $1 }
  }

  @Test(arguments: [480, 960, 2_880])
  func voiceThatHadFadedComesBackBeforeItIsHeardAgain(gap: Int) {
    var queue = Self.queue([
      Self.voice(0..<960), [Float](repeating: 0, count: gap),
      Self.voice(960 + gap..<2_400 + gap),
    ])
    let before = queue.count
    queue.repair(gap: gap, next: 1_440, converging: 480)
    #expect(queue.count == before)
    let played = Self.read(&queue, before)
    let said = Self.voice(0..<2_400 + gap)
    #expect(Array(played.prefix(960)) == Array(said.prefix(960)))
    // The second half of it lacks a quarter in the mean, where all was missing before.
    let half = 960 + gap / 2..<960 + gap
    let error = Self.power(half.map { played[$0] - said[$0] })
    #expect(error < 0.15 * Self.power(half.map { said[$0] }))
    let after = 960 + gap..<before
    #expect(Self.power(after.map { played[$0] - said[$0] }) < 0.01 * Self.power(said[after]))
  }

  @Test func repairHasNoStep() {
    // What was invented is out of step with what follows by half a period.
    var queue = Self.queue([
      Self.voice(0..<960), Self.voice(960..<1_920), Self.voice(2_105..<3_545),
    ])
    queue.repair(gap: 960, next: 1_440, converging: 480)
    let played = Self.read(&queue, queue.count)
    let steps = zip(played, played.dropFirst()).map { abs($0 - $1) }
    let natural = zip(Self.voice(0..<960), Self.voice(1..<961)).map { abs($0 - $1) }
    #expect(steps.max() ?? 1 < 1.2 * (natural.max() ?? 0))
  }

  @Test func noiseIsMirroredAndNeverLouderThanItsNeighbours() {
    var random = SeededGenerator(seed: 3)
    let noise = (0..<1_440).map { _ in Float.random(in: -0.5...0.5, using: &random) }
    var queue = Self.queue([[Float](repeating: 0, count: 4_800), noise])
    queue.repair(gap: 4_800, next: 1_440, converging: 480)
    let played = Self.read(&queue, queue.count)
    let last = Self.power(played[3_360..<4_800])
    #expect(last > 0.4 * Self.power(noise) && last < Self.power(noise))
    #expect(abs(played[4_799] - noise[0]) < 0.01)
    #expect(Array(played[4_800...]) == Array(noise.prefix(played.count - 4_800)))
  }

  @Test(arguments: [40, 100, 200, 400])
  func fadeBeginsWhereSoundIsUnplayed(rest: Int) {
    var queue = Self.queue([Self.voice(0..<1_920)])
    let whole = queue.count
    var other = Self.queue([Self.voice(0..<1_920)])
    let next = Self.voice(2_105..<4_025)
    let played = Self.read(&queue, whole - rest)
    _ = Self.read(&other, whole - rest)
    queue.append(SampleBuffer(next), count: 1_920)
    other.append(SampleBuffer(next), count: 1_920)
    queue.repair(gap: 960, next: 1_920, converging: 480)
    let repaired = played.suffix(1) + Self.read(&queue, rest + 960)
    let plain = played.suffix(1) + Self.read(&other, rest + 960)
    // What cannot be faded in 2.5 ms stays as it was; else no step is steeper than a voice's.
    if rest < 120 {
      #expect(repaired == plain)
    } else {
      let steps = zip(repaired, repaired.dropFirst()).map { abs($0 - $1) }
      #expect(repaired != plain)
      #expect(steps.max() ?? 1 < 0.06)
    }
  }

  @Test func onsetIsNotHeardBeforeItsTime() {
    // A pause, of which the end was lost, 15 ms of faint noise, and a bang.
    var random = SeededGenerator(seed: 4)
    let next = (0..<1_920).map { frame in
      Float.random(in: -1...1, using: &random) * (frame < 720 ? 0.001 : 0.5)
    }
    var queue = Self.queue([[Float](repeating: 0, count: 4_800), next])
    queue.repair(gap: 4_800, next: 1_920, converging: 240)
    let played = Self.read(&queue, 4_800)
    #expect(played.allSatisfy { abs($0) < 0.01 })
  }

  @Test func lowVoiceIsNotTakenForAHighOne() {
    // One packet of 10 ms is here: no period of 9.6 ms can be told from it.
    func low(_ frames: Range<Int>) -> [Float] {
      frames.map { frame in
        let phase = 2 * Double.pi * 104 * Double(frame) / 48_000
        return Float((1...12).reduce(0.0) { $0 + 0.1 * sin(phase * Double($1)) })
      }
    }
    var queue = Self.queue([[Float](repeating: 0, count: 2_400), low(2_400..<2_880)])
    queue.repair(gap: 2_400, next: 480, converging: 0)
    let played = Self.read(&queue, 2_400)
    // Mirrored: the last millisecond is what follows, backwards.
    let mirrored = low(2_400..<2_448).reversed()
    #expect(zip(played.suffix(48), mirrored).allSatisfy { abs($0 - $1) < 0.03 })
  }

  @Test(arguments: [0, 1, 119, 120, 5_760])
  func anyLengthsAreRepairedWithoutATrap(next: Int) {
    for gap in [0, 1, 480, 100_000] {
      for queued in [0, 1, 480] {
        var queue = Self.queue([[Float](repeating: 0.5, count: queued), Self.voice(0..<next)])
        let before = queue.count
        queue.repair(gap: gap, next: next, converging: 480)
        #expect(queue.count == before)
        let played = before > 0 ? Self.read(&queue, before) : []
        #expect(played.allSatisfy { abs($0) <= 1 })
      }
    }
  }
}
