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
/// The ends may run in parallel, each on a thread of its own and ahead of the other by at most the
/// least delay of a packet. The result is the same as on one thread.
///
/// **Thread safety:** one thread at a time.
package final class SimulatedCall {
  /// Number of threads that run a call.
  package enum Threads: Sendable {
    /// Only the caller's thread.
    case one
    /// The caller's thread and another one.
    ///
    /// Falls back to `one` unless the system has two processors and packets take at least five
    /// milliseconds in both directions, according to `PacketPath.leastDelay`.
    case two
  }

  /// One end of the call.
  package struct Party: Sendable {
    /// Headset of this end.
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

  /// Delay and statistics of the call at one moment.
  package struct Observation: Equatable, Sendable {
    /// Seconds since the call began.
    package var second: Double
    /// Mouth-to-ear delay towards the near side in milliseconds; nil before the first packet,
    /// during concealment and while the loudspeaker is unplugged.
    package var delay: Double?
    /// Target of the playout delay beyond the fastest packet, in milliseconds.
    package var target: Double
    /// Statistics of the near side's stream.
    package var stream: StreamStatistics
    /// Statistics of the far side's stream; nil in the first tenth of a second.
    package var far: StreamStatistics?
    /// Statistics of the near side's devices.
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

  /// Returns the number of the far side's captured frame that an RTP timestamp stands for.
  ///
  /// Valid only if the RTP clock has the headset's rate, and in calls of less than eleven hours, as
  /// timestamps wrap around.
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
