import Foundation
import MediaCore
import RealTime
import SpeechDSP
import Testing

@testable import VoiceEngine

/// Conversion between device rates and 48 kHz, and between two clocks.
struct ChainTests {
  private static func tone(_ count: Int, rate: Int, hertz: Double = 1_000) -> SampleBuffer {
    SampleBuffer(
      (0..<count).map { Float(0.5 * sin(2 * Double.pi * hertz * Double($0) / Double(rate))) }
    )
  }

  private static func power(_ samples: borrowing SampleBuffer, count: Int) -> Float {
    var sum: Float = 0
    for index in 0..<count { sum += samples[index] * samples[index] }
    return sum / Float(max(1, count))
  }

  // MARK: Capture

  @Test func samplesAt48kHzPassUnchanged() throws {
    var chain = try CaptureChain(rate: .voice, filters: SpeechFilterSettings())
    let tone = Self.tone(480, rate: 48_000)
    chain.process(tone, count: 480, reference: EchoReference())
    #expect(chain.outputFrames == 480 && chain.captured == 480 && chain.delivered == 480)
    #expect((0..<480).allSatisfy { chain.output[$0] == tone[$0] })
    let needsReference = chain.needsReference
    #expect(!needsReference)
  }

  @Test(arguments: [8_000, 16_000, 44_100, 96_000])
  func otherRatesBecome48kHzAndKeepTheirTone(hertz: Int) throws {
    var chain = try CaptureChain(rate: SampleRate(hertz: hertz), filters: SpeechFilterSettings())
    let tone = Self.tone(hertz / 50, rate: hertz)
    var frames = 0
    for _ in 0..<50 {
      chain.process(tone, count: hertz / 50, reference: EchoReference())
      frames += chain.outputFrames
    }
    // But for half the converter's filter.
    #expect(abs(frames - 48_000) < 300, "a second is a second")
    #expect(abs(Self.power(chain.output, count: chain.outputFrames) - 0.125) < 0.01)
  }

  /// Syllables: two dozen tones, louder and softer.
  private static func sound(at second: Double) -> Float {
    let loudness = pow(sin(2 * Double.pi * 2.3 * second), 2)
    let tones = (0..<24).reduce(0.0) { sum, number in
      let hertz = 200 + 131.7 * Double(number)
      return sum + sin(2 * Double.pi * hertz * second + Double(number * number))
    }
    return Float(0.05 * loudness * tones)
  }

  /// The reported delay is the real one, but for the wait for a whole block.
  @Test(arguments: [
    (48_000, SpeechFilterSettings()), (44_100, SpeechFilterSettings()),
    (16_000, SpeechFilterSettings()), (48_000, SpeechFilterSettings(noiseSuppression: true)),
    (48_000, SpeechFilterSettings(gainControl: true)),
    (48_000, SpeechFilterSettings(echoCancellation: true)),
    (16_000, SpeechFilterSettings(echoCancellation: true, gainControl: true)),
  ])
  func delayIsTheOneThatIsShown(hertz: Int, filters: SpeechFilterSettings) throws {
    var chain = try CaptureChain(rate: SampleRate(hertz: hertz), filters: filters)
    let block = hertz / 100
    var heard: [Float] = []
    for turn in 0..<300 {
      let samples = (0..<block).map { Self.sound(at: Double(turn * block + $0) / Double(hertz)) }
      chain.process(SampleBuffer(samples), count: block, reference: EchoReference())
      heard += (0..<chain.outputFrames).map { chain.output[$0] }
    }
    let part = (96_000..<100_800).map { Self.sound(at: Double($0) / 48_000) }
    let likeness = (0..<600).map { lag in
      part.indices.reduce(Float(0)) { $0 + part[$1] * heard[96_000 + $1 + lag] }
    }
    let lag = try #require(likeness.indices.max { likeness[$0] < likeness[$1] })
    // What the converter keeps back comes that much later.
    let kept = 3 * 48_000 - Int(chain.captured)
    let delay = Double(lag + kept) / 48
    let shown = Double(chain.delayNanoseconds) / 1e6
    print("\(hertz) Hz, \(filters): \(delay) ms late, \(shown) shown")
    #expect(abs(delay - shown) < 0.5)
  }

  @Test func filtersWorkInBlocksAndLoseNothing() throws {
    var chain = try CaptureChain(
      rate: .voice,
      filters: SpeechFilterSettings(noiseSuppression: true)
    )
    var frames = 0
    // 100 at a time fit into no block of 240.
    let tone = Self.tone(100, rate: 48_000)
    for _ in 0..<48 {
      chain.process(tone, count: 100, reference: EchoReference())
      #expect(chain.outputFrames % 240 == 0)
      frames += chain.outputFrames
    }
    #expect(frames == 4_800 && chain.captured == 4_800 && chain.delivered == 4_800)
    chain.process(tone, count: 100, reference: EchoReference())
    #expect(chain.captured - chain.delivered == 100, "what waits for its block is not delivered")
  }

  /// Filters come and go in mid-block, and every sample passes, in its order.
  @Test func filtersAreExchangedWithoutAGap() throws {
    var chain = try CaptureChain(rate: .voice, filters: SpeechFilterSettings())
    let settings = SpeechFilterSettings(echoCancellation: true)
    var other = try CaptureChain.filter(settings)
    let ramp = SampleBuffer((0..<100).map { Float($0) / 100 })
    var frames = 0
    func process() {
      chain.process(ramp, count: 100, reference: EchoReference())
      frames += chain.outputFrames
    }
    process()
    #expect(frames == 100 && chain.delayNanoseconds == 0)
    chain.exchange(&other, needsReference: true)
    let (isEmpty, needsReference) = (other == nil, chain.needsReference)
    #expect(isEmpty && needsReference && chain.delayNanoseconds == 5_000_000)
    for _ in 0..<3 { process() }
    #expect(frames == 340 && chain.captured - chain.delivered == 60)
    chain.exchange(&other, needsReference: false)
    process()
    #expect(frames == 500 && chain.captured == 500 && chain.delivered == 500)
    // The last of the waiting samples, then those of the last block.
    #expect(chain.output[59] == 0.99 && chain.output[60] == 0 && chain.output[159] == 0.99)
  }

  @Test func gapOfTheMicrophoneIsCountedAt48kHz() throws {
    var chain = try CaptureChain(rate: SampleRate(hertz: 16_000), filters: SpeechFilterSettings())
    let lost = chain.skip(1_600)
    #expect(lost == 4_800 && chain.captured == 4_800)
  }

  @Test func echoCancellationWantsToKnowWhatSounds() throws {
    let chain = try CaptureChain(
      rate: .voice,
      filters: SpeechFilterSettings(echoCancellation: true)
    )
    let needsReference = chain.needsReference
    #expect(needsReference)
  }

  // MARK: Playback

  @Test func loudSamplesAreLimitedAndNotWrapped() throws {
    var chain = try PlaybackChain(rate: .voice)
    chain.process(SampleBuffer([0.5, 1.7, -3, .infinity]), count: 4)
    #expect((0..<4).map { chain.output[$0] } == [0.5, 1, -1, 1])
  }

  @Test(arguments: [8_000, 44_100, 96_000])
  func loudspeakerGetsAsMuchAsItAsksFor(hertz: Int) throws {
    var chain = try PlaybackChain(rate: SampleRate(hertz: hertz))
    var wanted = 0
    var made = 0
    for _ in 0..<200 {
      wanted += hertz / 100
      let frames = chain.inputFrames(for: wanted - made)
      chain.process(Self.tone(frames, rate: 48_000), count: frames)
      made += chain.outputFrames
    }
    #expect(abs(wanted - made) <= hertz / 100)
    #expect(chain.inputFrames(for: 0) == 1, "one at least, or the converter starves")
  }

  // MARK: Conference

  @Test func bridgePlaysWhatItGotInOrder() {
    var bridge = ConferenceBridge()
    var next: Float = 0
    var heard: [Float] = []
    for _ in 0..<100 {
      bridge.append(SampleBuffer((0..<120).map { next + Float($0) }), count: 120)
      next += 120
      bridge.take(120)
      for index in 0..<120 where bridge.taken[index] > 0 { heard.append(bridge.taken[index]) }
    }
    #expect(heard.count > 11_000)
    #expect(zip(heard, heard.dropFirst()).allSatisfy { $1 - $0 == 1 }, "not one is missing")
  }

  @Test(arguments: [118, 122])
  func bridgeBetweenTwoClocksStaysShort(taken: Int) {
    var bridge = ConferenceBridge()
    var silent = 0
    var latest: Float = 0
    var greatestAge: Float = 0
    for round in 0..<20_000 {
      bridge.append(SampleBuffer(repeating: Float(round + 1), count: 120), count: 120)
      bridge.take(taken)
      latest = bridge.taken[taken - 1]
      if latest == 0 { silent += 1 } else { greatestAge = max(greatestAge, Float(round) - latest) }
    }
    // 50 s with clocks 1.7 % apart: at most 40 ms wait, and pauses are rare.
    #expect(greatestAge < 17, "rounds of 2.5 ms: \(greatestAge)")
    #expect(silent < 600, "\(silent) of 20000")
  }

  @Test func bridgeGivesSilenceWhenThereIsNothing() {
    var bridge = ConferenceBridge()
    bridge.append(SampleBuffer(repeating: 1, count: 4_096), count: 4_096)
    bridge.take(4_000)
    let rest = bridge.taken[0]
    #expect(rest == 0, "that much is never kept")
    bridge.take(4_000)
    #expect((0..<4_000).allSatisfy { bridge.taken[$0] == 0 })
    // More than it can hold is not an error.
    for _ in 0..<10 { bridge.append(SampleBuffer(repeating: 1, count: 4_096), count: 4_096) }
    bridge.take(100_000)
  }

  // MARK: Measurements

  @Test func probeSoundsInThePlaceOfTheFarSideAndOnlyThen() throws {
    func played(_ measurement: EngineSettings.Measurement) -> (recorded: [Float], sound: [Float]) {
      var ring = RingProducer<Float>(capacity: 96_000)
      var reader = ring.makeConsumer()
      var monitor = LoopMonitor(
        EngineSettings(measurement: measurement),
        capture: nil,
        playback: ring
      )
      var block = SampleBuffer(repeating: 0.25, count: 960)
      var sound: [Float] = []
      for round in 0..<50 {
        block.fill(0.25, count: 960)
        monitor.notePlayed(&block, count: 960, at: Int64(round * 960))
        for index in 0..<960 { sound.append(block[index]) }
      }
      var recorded: [Float] = []
      reader.drain(into: &recorded)
      return (recorded, sound)
    }
    let observed = played(.observe)
    #expect(observed.recorded.count == 48_000)
    #expect(observed.sound.allSatisfy { $0 == 0.25 }, "an observer changes nothing")
    let probed = played(.probe)
    #expect(probed.recorded == observed.recorded, "the far side is recorded as it was")
    let found = try #require(ProbeSignal.find(in: probed.sound + probed.sound, range: 0..<4_800))
    #expect(found < 2, "the chirp begins with the second")
    #expect(probed.sound[ProbeSignal.chirpFrames + 10] == 0)
  }
}
