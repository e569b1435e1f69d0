import Glibc
package import MediaCore
import SRTP
package import SpeechDSP
package import VoiceEngine

/// A whole call between two machines in virtual time: the voice loop, the codec and the packets are
/// real, the clocks, the network and the headsets are scripted.
///
/// Everything follows from the arguments: the same ones give the same samples.
///
/// Where packets take long enough, the ends may run at the same time, each on a thread of its own:
/// what one of them sends cannot reach the other before that much time has passed, so each may be
/// ahead of the other by so much. That changes nothing else.
///
/// **Thread safety:** one thread at a time.
package final class SimulatedCall {
  /// How many threads run a call.
  package enum Threads: Sendable {
    /// The one that asks for it.
    case one
    /// That one and another, if the system has a processor for each and packets take at least five
    /// milliseconds in both directions, by what `PacketPath.leastDelay` says.
    case two
  }

  /// One end of the call.
  package struct Party: Sendable {
    /// Its headset.
    package var card = ScriptedSoundCard.Script()
    /// What the voice path filters.
    package var filters = SpeechFilterSettings()
    /// Whether it sends its voice; reports go out in any case.
    package var maySend = true
    /// What the voice loop times.
    package var trace = EngineSettings.Trace.off
    /// How late the voice thread runs in the mean, exponentially distributed, in nanoseconds.
    package var latenessNanoseconds: Int64 = 60_000

    /// Someone silent with a faultless headset.
    package init() {}
  }

  /// The playback of the far side's sound at a moment.
  package struct Observation: Equatable, Sendable {
    /// Seconds since the call began.
    package var second: Double
    /// From mouth to ear in milliseconds, nil while nothing is played.
    package var delay: Double?
    /// How long the playout means to hold packets back beyond the fastest, in milliseconds.
    package var target: Double
    /// What the stream has done so far.
    package var stream: StreamStatistics
    /// What the received stream has done so far.
    package var far: StreamStatistics?
    /// What the headset's side has done so far.
    package var engine: EngineStatistics
  }

  private let near: SimulatedParty
  private let far: SimulatedParty
  private let towardsNear: SimulatedLink
  private let towardsFar: SimulatedLink
  private let begin: MonotonicInstant
  private var now: MonotonicInstant
  private var observed: MonotonicInstant
  /// Runs the far side; nil if both run on one thread.
  private let farThread: PartyThread?

  private static let observationNanoseconds: Int64 = 100_000_000
  /// Two threads that may be ahead of each other by less than this lose more than they gain, in
  /// nanoseconds.
  private static let shortestLead: Int64 = 5_000_000

  /// Lets `far` talk to `near`, and the other way round, over networks of which all is decided.
  ///
  /// Both use `configuration`, with identities of their own, and keys that follow from the seed if
  /// it says that packets are authenticated. Throws what a codec, a filter or a cipher does.
  package init(
    near: Party,
    far: Party,
    towardsNear: any PacketPath,
    towardsFar: any PacketPath,
    configuration: StreamConfiguration,
    seed: UInt64,
    threads: Threads = .one
  ) throws {
    self.towardsNear = SimulatedLink(towardsNear)
    self.towardsFar = SimulatedLink(towardsFar)
    var mine = configuration
    mine.ssrc = 1
    mine.seed = seed &* 0x9E37_79B9_7F4A_7C15
    mine.maySend = near.maySend
    var theirs = configuration
    theirs.maySend = far.maySend
    theirs.ssrc = 2
    theirs.seed = ~mine.seed
    let keys = configuration.isAuthenticated ? try Self.keys(seed: seed) : nil
    self.near = try SimulatedParty(
      near,
      mine,
      sending: self.towardsFar,
      receiving: self.towardsNear,
      keys: keys,
      seed: seed
    )
    self.far = try SimulatedParty(
      far,
      theirs,
      sending: self.towardsNear,
      receiving: self.towardsFar,
      keys: keys?.swapped,
      seed: seed &+ 1
    )
    begin = self.near.now
    now = begin
    observed = begin
    let lead = min(self.towardsNear.leastDelay, self.towardsFar.leastDelay)
    let mayGain = lead >= Self.shortestLead && sysconf(CInt(_SC_NPROCESSORS_ONLN)) > 1
    // One thread gives the same call, later.
    farThread =
      threads == .two && mayGain ? try? PartyThread(self.far, beside: self.near, lead: lead) : nil
  }

  /// Both directions over the same kind of network.
  package convenience init(
    near: Party,
    far: Party,
    over conditions: NetworkConditions,
    configuration: StreamConfiguration,
    seed: UInt64,
    threads: Threads = .one
  ) throws {
    try self.init(
      near: near,
      far: far,
      towardsNear: EmulatedNetwork(conditions, seed: seed),
      towardsFar: EmulatedNetwork(conditions, seed: ~seed),
      configuration: configuration,
      seed: seed,
      threads: threads
    )
  }

  private static func keys(seed: UInt64) throws -> SRTPKeys {
    var random = SeededGenerator(seed: seed)
    return try SRTPKeys(.aeadAES128GCM) { UInt8.random(in: 0...255, using: &random) }
  }

  /// Whether the ends run at the same time.
  var isOnTwoThreads: Bool { farThread != nil }

  /// Runs `seconds` more of the call, and tells `observe` ten times a second how the near side
  /// hears.
  package func run(seconds: Double, observing observe: (Observation) -> Void = { _ in }) {
    let end = now.advanced(byNanoseconds: seconds > 0 ? Int64(min(seconds, 1e9) * 1e9) : 0)
    while true {
      let next = min(near.nextTurn, far.nextTurn)
      guard next < end else { break }
      let due = observed.advanced(byNanoseconds: Self.observationNanoseconds)
      if let farThread, next < due {
        farThread.runBoth(before: min(end, due))
      } else {
        runOne(observing: observe)
      }
    }
    now = end
  }

  // The party that is due first.
  private func runOne(observing observe: (Observation) -> Void) {
    if near.nextTurn <= far.nextTurn {
      near.turn()
      guard near.now.nanoseconds(since: observed) >= Self.observationNanoseconds else { return }
      observed = near.now
      if let observation { observe(observation) }
    } else {
      far.turn()
    }
  }

  /// What the near side plays, at its loudspeaker's rate.
  package var heard: [Float] { near.card.heard }

  /// Lets `tap` learn of each datagram that the near side receives, and when it came.
  package func tapArrivals(_ tap: @escaping ([UInt8], MonotonicInstant) -> Void) {
    towardsNear.tap = tap
  }

  /// The frame that the far side captured at an RTP timestamp, in calls of less than eleven hours.
  package func capturedFrame(of timestamp: RTPTimestamp) -> Int64 {
    Int64(timestamp.ticks(since: far.firstTimestamp))
  }

  /// When the far side's microphone heard a frame.
  package func mouth(ofFrame frame: Int64) -> MonotonicInstant {
    far.card.instant(ofCaptured: frame)
  }

  /// Datagrams that were sent to the near side, and how many of them the network lost.
  package var traffic: (sent: Int, lost: Int) { (towardsNear.sent, towardsNear.lost) }

  private var observation: Observation? {
    guard let stream = near.statistics, let engine = near.engineStatistics else { return nil }
    return Observation(
      second: Double(near.now.nanoseconds(since: begin)) / 1e9,
      delay: near.mouthToEar(from: far).map { Double($0) / 1e6 },
      target: Double(stream.playoutTargetNanoseconds) / 1e6,
      stream: stream,
      far: far.statistics,
      engine: engine
    )
  }
}
