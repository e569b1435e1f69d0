import Foundation
import MediaCore
import Simulation
import SpeechDSP
import Testing
import VoiceEngine

@testable import CommandLine

/// The delay on a call's line, against a recording of both ends.
struct ShownDelayTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var codec = StreamConfiguration.Codec.opus
    var packet: FrameCount = 120
    var hertz = 48_000
    var filters = SpeechFilterSettings()
    var takesBlocks = false

    var testDescription: String {
      let names = [
        (filters.echoCancellation, "echo cancellation"),
        (filters.noiseSuppression, "noise suppression"), (filters.gainControl, "gain control"),
      ].filter(\.0).map(\.1)
      let card = "\(hertz) Hz\(takesBlocks ? " in blocks" : "")"
      return "\(codec), \(Double(packet) / 48) ms, \(card)\(names.map { ", " + $0 }.joined())"
    }
  }

  static let cases: [Case] =
    [120, 240, 480, 960, 1_920, 2_880].map { Case(packet: $0) }
    + [480, 960].flatMap { [Case(codec: .pcmu, packet: $0), Case(codec: .pcma, packet: $0)] }
    + [8_000, 16_000, 32_000, 44_100, 96_000].flatMap {
      [Case(hertz: $0), Case(codec: .pcma, packet: 960, hertz: $0)]
    }
    + [
      Case(takesBlocks: true), Case(packet: 960, takesBlocks: true),
      Case(filters: SpeechFilterSettings(echoCancellation: true)),
      Case(filters: SpeechFilterSettings(noiseSuppression: true)),
      Case(filters: SpeechFilterSettings(gainControl: true)),
      Case(
        codec: .pcma,
        packet: 960,
        hertz: 16_000,
        filters: SpeechFilterSettings(echoCancellation: true, noiseSuppression: true)
      ),
    ]

  /// Two seconds of a card's sound: a chirp from 300 Hz to 3 kHz, 200 ms long, in silence.
  private static func sound(_ rate: SampleRate) -> [Float] {
    (0..<2 * rate.hertz).map { frame in
      let time = Double(frame) / Double(rate.hertz) - 1
      guard (0..<0.2).contains(time) else { return 0 }
      let window = sin(Double.pi * time / 0.2)
      return Float(0.3 * window * sin(2 * Double.pi * (300 + 6_750 * time) * time))
    }
  }

  /// The lag in frames at which a recording is most like the sound that was spoken.
  private static func lag(
    of heard: [Float],
    behind said: ArraySlice<Float>,
    _ range: Range<Int>
  ) -> Int? {
    let likeness = range.map { lag in
      said.indices.reduce(Float(0)) { $0 + said[$1] * heard[$1 - said.startIndex + lag] }
    }
    return likeness.indices.max { abs(likeness[$0]) < abs(likeness[$1]) }
      .map { range.lowerBound + $0 }
  }

  @Test(arguments: cases) func delayOnTheLineIsTheOneOfARecording(_ case: Case) throws {
    let rate = SampleRate(hertz: `case`.hertz)
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 1)
    configuration.codec = `case`.codec
    configuration.packetFrames = `case`.packet
    // Time is what this is about, not sound.
    configuration.complexity = 0
    var party = SimulatedCall.Party()
    party.card.rate = rate
    party.card.period = rate.hertz / 400
    party.card.takesBlocks = `case`.takesBlocks
    party.card.sound = Self.sound(rate)
    party.filters = `case`.filters
    let call = try SimulatedCall(
      near: party,
      far: party,
      over: .clean,
      configuration: configuration,
      seed: 7
    )
    var observations: [SimulatedCall.Observation] = []
    call.run(seconds: 12) { observations.append($0) }
    let settled = observations.filter { $0.second >= 10 }
    let lines = settled.map { observation in
      DelayStages(
        .example(of: UUID()) { (stream, engine) in
          (stream, engine) = (observation.stream, observation.engine)
        }
      ).total
    }
    let line = try #require(lines.sorted()[safe: lines.count / 2])
    let simulated = try #require(settled.compactMap(\.delay).sorted()[safe: settled.count / 2])
    // The chirp that begins 11 s into the microphone's sound.
    let first = 11 * rate.hertz
    let said = Self.sound(rate)[rate.hertz..<rate.hertz * 6 / 5]
    let near = first + Int(simulated * Double(rate.hertz) / 1e3)
    let reach = rate.hertz / 100
    let found = try #require(
      Self.lag(of: call.heard, behind: said, near - reach..<near + reach)
    )
    let mouth = call.mouth(ofFrame: Int64(first))
    let recorded = Double(call.ear(ofFrame: Int64(found)).nanoseconds(since: mouth)) / 1e6
    print("\(`case`): \(recorded) ms recorded, \(line) shown, \(simulated) by simulate")
    #expect(abs(line - recorded) < 1)
    #expect(abs(simulated - recorded) < 1)
  }
}

extension Array {
  fileprivate subscript(safe index: Int) -> Element? {
    indices.contains(index) ? self[index] : nil
  }
}
