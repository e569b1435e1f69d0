import Glibc
package import MediaCore
import SRTP
package import SpeechDSP
package import VoiceEngine

/// A whole call between two machines in virtual time.
///
/// The voice loop, the codec and the packets are real; the clocks, the network and the headsets are
/// scripted. Everything follows from the arguments: the same ones give the same samples.
///
/// If packets take long enough, the ends may run at the same time, each on a thread of its own: no
/// packet of one can reach the other before that time has passed, so each may be ahead of the other
/// by as much. That changes nothing else.
///
/// **Thread safety:** one thread at a time.
package final class SimulatedCall {
  /// Number of threads that run a call.
  package enum Threads: Sendable {
    /// Only the caller's thread.
    case one
    /// The caller's thread and another one.
    ///
    /// Only if the system has a processor for each and packets take at least five milliseconds in
    /// both directions, according to `PacketPath.leastDelay`.
    case two
  }

  /// One end of the call.
  package struct Party: Sendable {
    /// Its headset.
    package var card = ScriptedSoundCard.Script()
    /// Filters of the voice path.
    package var filters = SpeechFilterSettings()
    /// True if it sends its voice; reports are sent in any case.
    package var maySend = true
    /// Times that the voice loop records.
    package var trace = EngineSettings.Trace.off
    /// Mean lateness of the voice thread, exponentially distributed, in nanoseconds.
    package var latenessNanoseconds: Int64 = 60_000

    /// Creates a silent party with a faultless headset.
    package init() {}
  }

  /// The playback of the far side's sound at a moment.
  package struct Observation: Equatable, Sendable {
    /// Seconds since the call began.
    package var second: Double
    /// Mouth-to-ear delay in milliseconds, nil while nothing is played.
    package var delay: Double?
    /// Target of the playout delay beyond the fastest packet, in milliseconds.
    package var target: Double
    /// Statistics of the near side's stream.
    package var stream: StreamStatistics
    /// Statistics of the far side's stream; nil before its first report.
    package var far: StreamStatistics?
    /// Statistics of the headset's side.
    package var engine: EngineStatistics
  }

  private let near: SimulatedParty
  private let far: SimulatedParty
  private let towardsNear: SimulatedLink
  private let towardsFar: SimulatedLink
  private let begin: MonotonicInstant
  private var now: MonotonicInstant
  private var observed: MonotonicInstant
  /// Thread of the far side; nil if both run on one thread.
  private let farThread: PartyThread?

  private static let observationNanoseconds: Int64 = 100_000_000
  /// Shortest lead of one thread over the other, in nanoseconds, at which two threads gain time.
  private static let shortestLead: Int64 = 5_000_000

  /// Creates a call between `near` and `far` over two one-way network paths.
  ///
  /// Both use `configuration` with SSRCs and seeds of their own, and if its packets are
  /// authenticated, keys derived from `seed`. Throws the error of a codec, a filter or a cipher.
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

  /// Creates a call over the same kind of network in both directions.
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

  /// True if the ends run at the same time.
  var isOnTwoThreads: Bool { farThread != nil }

  /// Runs `seconds` more of the call, and calls `observe` ten times a second with the near side's
  /// playback.
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

  /// Sound played by the near side, at its loudspeaker's rate.
  package var heard: [Float] { near.card.heard }

  /// Sets `tap` to be called with each datagram that the near side receives, and its arrival.
  package func tapArrivals(_ tap: @escaping ([UInt8], MonotonicInstant) -> Void) {
    towardsNear.tap = tap
  }

  /// Returns the frame that the far side captured at an RTP timestamp, in calls of less than eleven
  /// hours.
  package func capturedFrame(of timestamp: RTPTimestamp) -> Int64 {
    Int64(timestamp.ticks(since: far.firstTimestamp))
  }

  /// Returns the time at which the near side's loudspeaker played a frame of `heard`.
  package func ear(ofFrame frame: Int64) -> MonotonicInstant {
    near.card.instant(ofPlayed: frame)
  }

  /// Returns the time at which the far side's microphone captured a frame.
  package func mouth(ofFrame frame: Int64) -> MonotonicInstant {
    far.card.instant(ofCaptured: frame)
  }

  /// Number of datagrams sent to the near side, and number of those that the network lost.
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
