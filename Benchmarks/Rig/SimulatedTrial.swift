package import Foundation
package import Simulation
package import VoiceEngine

/// The same call as a `Trial`'s in virtual time, judged in the same way: what the rig should
/// measure if the simulation is right.
package struct SimulatedTrial {
  private let conditions: NetworkConditions
  private let conversation: Conversation
  private let stream: StreamConfiguration
  private let settings: Trial.Settings
  private let model: TrialResult
  private let encoding: EncodingTime

  private static let period = JackServer.period

  /// A call with streams as `stream`; nil for the conditions is the loopback interface.
  ///
  /// The clock of both headsets stands still, and each program wakes late, as often in each second
  /// and for as long as during `model`, a call that was measured, at moments that follow from the
  /// seed. Packets leave after their `encoding`.
  package init(
    _ stream: StreamConfiguration,
    over conditions: NetworkConditions?,
    saying conversation: Conversation,
    settings: Trial.Settings,
    encoding: EncodingTime,
    stallingAs model: TrialResult
  ) {
    self.model = model
    self.encoding = encoding
    self.stream = stream
    self.conditions = conditions ?? NetworkConditions(TrialResult.direct, delayMilliseconds: 0)
    self.conversation = conversation
    self.settings = settings
  }

  /// Holds the call once for each direction, and tells what was heard.
  ///
  /// `name` is the program's; the clips that were scored are left in `folder`, which is new.
  package func run(as name: String, in folder: URL) throws -> TrialResult {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let listener = Listener(to: conversation, scorer: settings.scorer)
    var generator = SeededGenerator(seed: settings.seed)
    let stalls = stalls(&generator)
    let begin = settings.settling * 48_000
    let end = begin + settings.seconds * 48_000
    let directions = try [(0, "A to B"), (1, "B to A")].map { source, name in
      let call = try SimulatedCall(
        near: party(saying: 1 - source, stalls + delays(beside: stalls, &generator)),
        far: party(saying: source, stalls + delays(beside: stalls, &generator)),
        towardsNear: path(seed: 4 &* settings.seed &+ UInt64(source)),
        towardsFar: path(seed: 4 &* settings.seed &+ 2 &+ UInt64(source)),
        configuration: stream,
        seed: 2 &* settings.seed &+ UInt64(source)
      )
      // The last speech is still under way, and a chirp is searched for over two seconds.
      call.run(seconds: Double(settings.settling + settings.seconds + 3))
      return try listener.direction(
        name,
        heard: call.heard,
        of: source,
        during: begin..<end,
        placed: 0,
        in: folder
      )
    }
    return TrialResult(simulated: name, over: conditions.name, directions)
  }

  /// The length of the call that the window of the model is part of, in seconds.
  private var seconds: Double { Double(settings.settling + settings.seconds) }

  // As many as in the whole call, if they come as often as in the window.
  private func extended(_ milliseconds: [Double]) -> [Double] {
    let count = Int(seconds * Double(milliseconds.count) / Double(settings.seconds))
    return (0..<count).map { milliseconds[$0 % milliseconds.count] }
  }

  private var latenesses: [Double] {
    (model.lateMilliseconds ?? []).filter { $0 < Double(Self.period) / 48 }
  }

  private func path(seed: UInt64) -> any PacketPath {
    let network = EmulatedNetwork(conditions, seed: seed)
    let isRelayed = conditions.name != TrialResult.direct
    let wakes = Double(settings.seconds) / WakeWitness.periodSeconds
    let share = isRelayed ? Double(latenesses.count) / wakes : 0
    return LivePath(network, after: encoding, late: share, by: latenesses, seed: ~seed)
  }

  private func stalls(_ generator: inout SeededGenerator) -> [DeviceFault] {
    extended(model.stallMilliseconds ?? [])
      .map { DeviceFault(.suspended, second: seconds * generator.unit(), milliseconds: $0) }
      .sorted { $0.at < $1.at }
  }

  // Each begins just before the microphone wakes the program. What lasts longer than a period keeps
  // jackd waiting as well, and is among the stalls.
  private func delays(
    beside stalls: [DeviceFault],
    _ generator: inout SeededGenerator
  ) -> [DeviceFault] {
    let period = Double(Self.period) / 48
    return extended(latenesses).map { milliseconds in
      let turn = (1_000 * seconds / period * generator.unit()).rounded(.down)
      var passed = turn * period
      for stall in stalls where Double(stall.at) / 1e6 < passed {
        passed += Double(stall.duration) / 1e6
      }
      return DeviceFault(
        .stopped,
        second: (passed - Self.margin) / 1_000,
        milliseconds: milliseconds + Self.margin
      )
    }
  }

  /// In milliseconds.
  private static let margin = 0.01

  private func party(saying source: Int, _ faults: [DeviceFault]) -> SimulatedCall.Party {
    var party = SimulatedCall.Party()
    party.card.sound = conversation.sounds[source]
    party.card.period = Self.period
    // As JACK does.
    party.card.takesBlocks = true
    party.card.faults = faults.sorted { $0.at < $1.at }
    return party
  }
}
