import ProgramRig
import MediaCore
import Playout
import Rig
import Simulation
import VoiceEngine

/// Output of one receiver for a call, with its delays and losses.
struct Hearing {
  /// Name of the receiver.
  let name: String
  /// Output from the beginning of the call on, at 48 kHz.
  let heard: [Float]
  /// Mouth-to-ear delay every 10 ms in milliseconds; nil where nothing was decoded.
  let delays: [Double?]
  let concealedShare: Double
  /// Frames lost in faults of the listener's sound card, as a share of the output; 0 except in
  /// whole calls.
  ///
  /// The loudspeaker runs dry if the program stands still.
  let silentShare: Double
  /// Share that a fixed delay of the same mean would have concealed; nil if unknown.
  let fixedShare: Double?
  /// Least mean delay in milliseconds at which a receiver that knew all arrival times beforehand
  /// would have concealed no more; nil if unknown.
  let leastDelay: Double?

  private let settlingSeconds: Int

  /// Plays the packets of `call` through `engine`.
  init(_ call: TestCall, by engine: any PlayoutUnderTest) {
    settlingSeconds = call.setting.settlingSeconds
    let frames = engine.pullFrames
    let total = call.setting.seconds * 48_000
    var heard: [Float] = []
    heard.reserveCapacity(total + frames)
    var delays: [Double?] = []
    var next = 0
    var concealed: Int64 = 0
    while heard.count < total {
      let now = MonotonicInstant(nanoseconds: Int64(heard.count) * 62_500 / 3)
      while next < call.packets.count, call.packets[next].arrival <= now {
        engine.receive(call.packets[next])
        next += 1
      }
      engine.render(into: &heard, at: now)
      if heard.count < settlingSeconds * 48_000 { concealed = engine.concealedFrames }
      guard heard.count % 480 == 0 else { continue }
      delays.append(
        engine.position.map { position in
          let ear = Double(heard.count + position.queued) / 48
          let mouth = TestCall.captured(position.frame, drift: call.setting.drift)
          return ear - Double(mouth.nanoseconds) / 1e6 + Double(call.lookAhead) / 48
        }
      )
    }
    name = engine.name
    self.heard = heard
    self.delays = delays
    let counted = max(1, total - settlingSeconds * 48_000)
    concealedShare = Double(engine.concealedFrames - concealed) / Double(counted)
    silentShare = 0
    let bound = HindsightBound(call)
    let lookAhead = Double(call.lookAhead) / 48
    let mean = Self.mean(delays.dropFirst(settlingSeconds * 100))
    fixedShare = bound.missingShare(of: call.settledStarts, at: mean - lookAhead)
    leastDelay = bound.delay(of: call.settledStarts, concealedShare: concealedShare)
      .map { $0 + lookAhead }
  }

  // Of those that are known.
  private static func mean(_ delays: ArraySlice<Double?>) -> Double {
    let known = delays.compactMap { $0 }
    return known.reduce(0, +) / Double(max(1, known.count))
  }

  static let wholeCallName = "whole call"

  /// Simulates the whole call between two of our machines, each with a headset, at their defaults.
  init(
    inWholeCall call: TestCall,
    decoderComplexity: Int?,
    without ablation: Ablation? = nil
  ) throws {
    let settlingSeconds = call.setting.settlingSeconds
    self.settlingSeconds = settlingSeconds
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 2, withCopies: true)
    configuration.adaptsPackets = true
    configuration.playout = ablation?.mechanisms ?? PlayoutMechanisms()
    configuration.decoderComplexity = decoderComplexity
    var far = SimulatedCall.Party()
    far.card.sound = call.sound
    far.card.captureDrift = call.setting.drift
    far.card.playbackDrift = call.setting.drift
    var near = SimulatedCall.Party()
    near.card.faults = call.faults(ofSide: 0)
    far.card.faults = call.faults(ofSide: 1)
    let simulation = try SimulatedCall(
      near: near,
      far: far,
      over: call.setting.network,
      configuration: configuration,
      seed: call.setting.seed
    )
    var bound = HindsightBound(seconds: call.setting.seconds)
    simulation.tapArrivals { [unowned simulation] in bound.note($0, at: $1, of: simulation) }
    var delays: [Double?] = []
    var fills: [Double] = []
    var settled: SimulatedCall.Observation?
    var end: SimulatedCall.Observation?
    simulation.run(seconds: Double(call.setting.seconds)) { observation in
      // Ten of them in a second, where a hundred are kept.
      let place = Int(observation.second * 100)
      while delays.count < place { delays.append(observation.delay) }
      if observation.second < Double(settlingSeconds) { settled = observation }
      end = observation
      // Beyond the arrival: what the encoder looked ahead, and what the sound card holds.
      let fill = observation.engine.playbackFillNanoseconds
      fills.append(Double(fill + (observation.far?.lookAheadNanoseconds ?? 0)) / 1e6)
    }
    name = ablation?.name ?? Self.wholeCallName
    heard = simulation.heard
    self.delays = delays
    func share(_ frames: (SimulatedCall.Observation) -> Int64) -> Double {
      let during = (end.map(frames) ?? 0) - (settled.map(frames) ?? 0)
      let counted = max(1, (call.setting.seconds - settlingSeconds) * 48_000)
      return Double(during) / Double(counted)
    }
    concealedShare = share { $0.stream.concealedFrames }
    silentShare = share { $0.engine.lostFrames }
    let fill = Percentiles(fills).median
    // While a card stands still nothing is late, but the bound would count that time.
    let isBounded = call.setting.stalls != .suspended
    let mean = Self.mean(delays.dropFirst(settlingSeconds * 100))
    fixedShare =
      isBounded ? bound.missingShare(of: call.settledStarts, at: mean - fill) : nil
    leastDelay =
      isBounded
      ? bound.delay(of: call.settledStarts, concealedShare: concealedShare).map { $0 + fill } : nil
  }

  /// Known delays after the settling time, in milliseconds.
  var settledDelays: [Double] { delays.dropFirst(settlingSeconds * 100).compactMap { $0 } }

  /// Returns each sentence after the settling time, with the output in which it was heard.
  func clips(of call: TestCall) -> [SpeechScorer.Clip] {
    call.utterances.compactMap { utterance in
      guard utterance.frame >= settlingSeconds * 48_000 else { return nil }
      let last = min(delays.count, (utterance.frame + utterance.samples.count) / 480)
      guard utterance.frame / 480 < last else { return nil }
      let during = delays[utterance.frame / 480..<last]
      let known = during.compactMap { $0 }
      // Of what was not decoded at all the score is that of silence.
      let delay = Percentiles(known.isEmpty ? settledDelays : known).median
      guard delay.isFinite else { return nil }
      let shift = Int(delay * 48)
      let around =
        utterance.frame + shift - 4_000..<utterance.frame + utterance.samples.count + shift + 12_000
      guard around.upperBound <= heard.count else { return nil }
      return SpeechScorer.Clip(
        original: [Float](repeating: 0, count: 4_000) + utterance.samples
          + [Float](repeating: 0, count: 12_000),
        heard: Array(heard[around])
      )
    }
  }
}
