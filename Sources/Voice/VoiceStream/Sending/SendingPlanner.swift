import MediaCore
import Codecs
import RTP

/// Chooses packet duration, bit rate and redundancy from the far side's reports.
///
/// | The far side reports | Packets |
/// |---|---|
/// | nothing yet, or no loss and little jitter | 2.5 ms at a higher rate, for less delay |
/// | few losses, or some jitter | 5 ms, with up to two redundant copies (RFC 2198) for losses |
/// | many losses, or much jitter | as configured, with up to three copies |
/// | losses, and takes no RED | as configured, with in-band FEC (RFC 6716 section 2.1.7) |
/// | losses and growing delay | a lower bit rate: the path is congested |
///
/// Copies repeat packets from before the usual burst of losses, so that one copy repairs a burst
/// of several packets.
///
/// A call begins as on a clean link, since most links are, and the first report corrects that if it
/// is wrong. Later a change for the better waits until the link has looked well for a while, longer
/// after each failure; one for the worse comes with the report that demands it (`LinkTrust`).
/// Packets of 2.5 ms are for microphones that deliver less than 5 ms at once: with others they gain
/// nothing.
struct SendingPlanner: ~Copyable {
  /// Least share of the packets that a first copy must repair to be sent.
  ///
  /// A second and a third are sent if bursts of two and three are so frequent that each repairs
  /// more than `furtherGain`.
  private static var firstGain: Double { 0.002 }
  private static var furtherGain: Double { 0.005 }
  /// Least share of the packets to repair for which the last copy is sent one packet later.
  ///
  /// That applies as long as the far side waits for jitter anyway.
  private static var laterGain: Double { 0.002 }
  /// Least share of the packets to repair per 10 ms by which a later copy delays the voice.
  ///
  /// Found with `bench playout`: with 0.002, a link that loses 5 % in bursts has 10 ms more delay
  /// and 0.13 PESQ more; with 0.006, one that loses 10 % has 6 ms less and 0.15 PESQ less.
  private static var delayedGain: Double { 0.005 }
  /// Wait of a far side as a multiple of the jitter that it reports (RFC 3550).
  ///
  /// An exponential distribution is assumed, of which one packet in 150 is left out.
  private static var awaitedJitter: Int64 { 5 }
  private static var mostCopies: Int { @_noAllocation @_noLocks get { 3 } }
  /// Duration of packets, 5 ms at 48 kHz, for links with few losses, which get copies as well.
  static var shortFrames: FrameCount { @_noAllocation @_noLocks get { 240 } }
  private static var shortestFrames: FrameCount { @_noAllocation @_noLocks get { 120 } }
  /// Least bit rate of one payload of low delay if copies are sent, in bits per second.
  private static var leastLowDelayBitrate: Int { @_noAllocation @_noLocks get { 64_000 } }
  /// Greatest bit rate of all packets, headers included; `narrowest` is the least of one payload.
  private static var widest: Int { 256_000 }
  private static var narrowest: Int { 24_000 }
  /// Bits of the IPv4, UDP and RTP headers.
  private static var headerBits: Int { 320 }
  /// Rise of the round trip above its minimum, in nanoseconds, beyond which the path is congested.
  private static var queueing: Int64 { 100_000_000 }
  /// Time without a report, in nanoseconds, after which the far side may be losing short packets.
  private static var longestSilence: Int64 { 10_000_000_000 }

  /// Plan for sending now.
  var plan: SendingPlan {
    @_noAllocation @_noLocks get {
      var plan = chosen
      plan.packetFrames = max(plan.packetFrames, leastPacketFrames)
      return plan
    }
  }
  /// Least frames per packet at 48 kHz that were requested; 0 for no limit.
  private(set) var leastPacketFrames: FrameCount = 0

  private var chosen: SendingPlan
  private let configured: SendingPlan
  private let sendsCopies: Bool
  private let usesInBandRedundancy: Bool
  private var adaptsPackets: Bool
  private var bitrate: Int
  /// Trust in the link with packets of 5 ms.
  private var short = LinkTrust(good: (0.01, 10_000_000), bad: (0.02, 20_000_000))
  /// Trust in the link with packets of 2.5 ms, which carry no copies: losses that call for copies
  /// end it.
  private var shortest = LinkTrust(good: (0.000_5, 2_000_000), bad: (0.002, 5_000_000))
  /// Frames captured since the last decision; `coarseFrames` are those that came in blocks of 5 ms
  /// or more.
  private var capturedFrames: FrameCount = 0
  private var coarseFrames: FrameCount = 0
  private var isCoarse = false
  private var losses = LossEstimate()
  /// Estimated capacity of the path, in bits per second.
  private var ceiling = Self.widest
  private var roundTrips = RecentMinimum()
  /// Shortest round trip of the last half minute to a minute, in nanoseconds; nil before the first.
  private(set) var shortestRoundTrip: Int64?

  // What the compound packet that is being read has reported so far.
  private var fractionLost: Int?
  private var hasRuns = false
  private var jitter: Int64 = 0
  private var isQueueing = false
  private var reported: MonotonicInstant?

  init(_ configuration: StreamConfiguration) {
    configured = SendingPlan(
      application: configuration.packetFrames < 480 ? .lowDelay : .speech,
      packetFrames: configuration.packetFrames,
      bitrate: configuration.bitrate,
      redundancyDepth: 0,
      redundancyReach: 0,
      expectedLossPercent: 0
    )
    chosen = configured
    bitrate = configuration.bitrate
    sendsCopies = configuration.sendRedundancyPayloadType != nil
    adaptsPackets = configuration.adaptsPackets
    usesInBandRedundancy = configuration.usesInBandRedundancy && configuration.codec == .opus
    if sendsCopies, adaptsPackets { chosen = lowDelay(Self.shortestFrames) }
  }

  /// Returns a plan of low delay with packets of `frames` or fewer, for links with few losses.
  @_noAllocation @_noLocks
  private func lowDelay(_ frames: FrameCount) -> SendingPlan {
    let frames = min(frames, configured.packetFrames)
    return SendingPlan(
      application: .lowDelay,
      packetFrames: frames,
      bitrate: max(bitrate, StreamConfiguration.suitedBitrate(forPacketsOf: frames)),
      redundancyDepth: 0,
      redundancyReach: 0,
      expectedLossPercent: 0
    )
  }

  /// Notes a block of `frames` from the microphone.
  @_noAllocation @_noLocks
  mutating func noteBlock(of frames: FrameCount) {
    capturedFrames += frames
    if frames >= Self.shortFrames { coarseFrames += frames }
  }

  /// Makes packets no shorter than `frames`, rounded up to a length that Opus has (RFC 6716 section
  /// 2.1.4).
  @_noAllocation @_noLocks
  mutating func lengthenPackets(to frames: FrameCount) {
    var length: FrameCount = frames > 0 ? 120 : 0
    while length < frames, length < 1_920 { length *= 2 }
    let former = plan.packetFrames
    leastPacketFrames = length < frames ? 2_880 : length
    losses.rescale(from: former, to: plan.packetFrames)
  }

  /// Processes the runs of received and lost packets that the far side reported at `now`.
  @_noAllocation @_noLocks
  mutating func receive(
    _ runs: LossRuns,
    in datagram: borrowing ByteBuffer,
    at now: MonotonicInstant
  ) {
    var runs = runs
    losses.fade(to: now)
    while let (isReceived, count) = runs.next(in: datagram) {
      losses.add(isReceived: isReceived, count: count)
    }
    hasRuns = true
  }

  /// Takes in a report: the share lost since the one before in 1/256, the jitter, and the round
  /// trip if this report gave it, in nanoseconds.
  @_noAllocation @_noLocks
  mutating func receive(
    fractionLost: Int,
    jitterNanoseconds jitter: Int64,
    roundTripNanoseconds roundTrip: Int64?,
    at now: MonotonicInstant
  ) {
    self.fractionLost = fractionLost
    self.jitter = jitter
    reported = now
    isQueueing = false
    guard let roundTrip else { return }
    let shortest = roundTrips.update(roundTrip, at: now)
    shortestRoundTrip = shortest
    isQueueing = roundTrip - shortest > Self.queueing
  }

  /// Decides on the plan, by the compound packet whose parts were passed to `receive`.
  @_noAllocation @_noLocks
  mutating func decide(at now: MonotonicInstant) {
    guard let fraction = fractionLost else { return hasRuns = false }
    fractionLost = nil
    guard sendsCopies else { return adaptInBandRedundancy(toFractionLost: fraction) }
    if !hasRuns { assumeSingleLosses(fraction, at: now) }
    hasRuns = false
    noteWidth(fractionLost: fraction)
    noteTrust(at: now)
    choose()
  }

  /// Advances the time to `now`, with or without reports.
  @_noAllocation @_noLocks
  mutating func advance(to now: MonotonicInstant) {
    let last = reported ?? now
    reported = last
    guard chosen.isLowDelay, sendsCopies, adaptsPackets,
      now.nanoseconds(since: last) > Self.longestSilence
    else { return }
    short.withdraw()
    shortest.withdraw()
    choose()
  }

  // In-band redundancy is paid for in quality, so it follows the loss that the far side sees.
  @_noAllocation @_noLocks
  private mutating func adaptInBandRedundancy(toFractionLost fraction: Int) {
    guard usesInBandRedundancy else { return }
    let percent = min(25, (fraction * 100 + 255) / 256)
    let expected = chosen.expectedLossPercent
    chosen.expectedLossPercent = percent > expected ? percent : (expected + percent) / 2
  }

  // A far side that does not report which packets it lost: one copy may repair them.
  @_noAllocation @_noLocks
  private mutating func assumeSingleLosses(_ fraction: Int, at now: MonotonicInstant) {
    losses.fade(to: now)
    for _ in 0..<fraction {
      losses.add(isReceived: false, count: 1)
      losses.add(isReceived: true, count: max(1, (256 - fraction) / max(1, fraction)))
    }
    if fraction == 0 { losses.add(isReceived: true, count: 256) }
  }

  @_noAllocation @_noLocks
  private mutating func noteWidth(fractionLost: Int) {
    if fractionLost > 5, isQueueing {
      let headers = Self.headers(of: plan.packetFrames)
      let sent = chosen.bitrate * (chosen.redundancyDepth + 1) + headers
      ceiling = max(Self.narrowest + headers, min(ceiling, sent) * 3 / 4)
    } else {
      ceiling = min(Self.widest, ceiling + ceiling / 32)
    }
  }

  @_noAllocation @_noLocks
  private mutating func noteTrust(at now: MonotonicInstant) {
    let share = losses.share(reach: 0)
    let condition = LinkTrust.Condition(
      lossShare: share,
      jitter: jitter,
      isQueueing: isQueueing
    )
    short.note(condition, at: now)
    shortest.note(condition, at: now)
    guard capturedFrames > 0 else { return }
    // One late look at the microphone finds more than usual.
    isCoarse = 2 * coarseFrames > capturedFrames
    capturedFrames = 0
    coarseFrames = 0
  }

  @_noAllocation @_noLocks
  private mutating func choose() {
    let former = plan.packetFrames
    makePlan()
    losses.rescale(from: former, to: plan.packetFrames)
  }

  @_noAllocation @_noLocks
  private mutating func makePlan() {
    if adaptsPackets, short.isGiven {
      let fastest = lowDelay(Self.shortestFrames)
      let fast = lowDelay(Self.shortFrames)
      let width = fastest.bitrate + Self.headers(of: fastest.packetFrames)
      if shortest.isGiven, !isCoarse, ceiling >= width { return chosen = fastest }
      let headers = Self.headers(of: fast.packetFrames)
      if ceiling >= 2 * Self.leastLowDelayBitrate + headers {
        chosen = fast
        chooseCopies(ofPayloads: Self.leastLowDelayBitrate)
        let fitting = (ceiling - headers) / (chosen.redundancyDepth + 1)
        return chosen.bitrate = min(chosen.bitrate, fitting)
      }
    }
    chosen = configured
    chosen.bitrate = bitrate
    guard adaptsPackets else { return chooseCopies(ofPayloads: bitrate) }
    // On a narrow path headers weigh more than a longer wait for each packet.
    if ceiling < Self.widest / 2 { chosen.packetFrames = max(960, chosen.packetFrames) }
    chooseCopies(ofPayloads: Self.narrowest)
    let room = ceiling - Self.headers(of: plan.packetFrames)
    let fitting = room / (chosen.redundancyDepth + 1)
    chosen.bitrate = max(min(bitrate, Self.narrowest), min(bitrate, fitting))
  }

  // As many copies as each mend enough, and as there is room for. The last one is sent so late that
  // most bursts are over by then, for which the far side has to wait.
  @_noAllocation @_noLocks
  private mutating func chooseCopies(ofPayloads least: Int) {
    let room = ceiling - Self.headers(of: plan.packetFrames)
    var depth = losses.reach(gaining: Self.firstGain) == 0 ? 0 : 1
    let wanted = min(losses.reach(gaining: Self.furtherGain), Self.mostCopies)
    while depth > 0, depth < wanted, (depth + 2) * least <= room { depth += 1 }
    chosen.redundancyDepth = depth
    let frames = plan.packetFrames
    let awaited = Self.awaitedJitter * jitter / SampleRate.voice.nanoseconds(of: frames)
    let delayed = losses.reach(gaining: Self.delayedGain * Double(frames) / 480)
    let useful = min(losses.reach(gaining: Self.laterGain), farthestCopy)
    let reach = min(useful, max(Int(clamping: awaited), delayed))
    chosen.redundancyReach = depth == 0 ? 0 : max(depth, reach)
  }

  // How many packets later a copy can still say how old it is.
  private var farthestCopy: Int {
    @_noAllocation @_noLocks get { RedundantPayload.longestOffset / plan.packetFrames }
  }

  @_noAllocation @_noLocks
  private static func headers(of packetFrames: FrameCount) -> Int {
    headerBits * 48_000 / packetFrames
  }
}

/// Minimum of the measurements of the last half minute to a minute.
struct RecentMinimum: Sendable, BitwiseCopyable {
  private static var window: Int64 { 30_000_000_000 }

  private var current = Int64.max
  private var previous = Int64.max
  private var begin: MonotonicInstant?

  @_noAllocation @_noLocks init() {}

  /// Adds a measurement, and returns the minimum.
  @_noAllocation @_noLocks
  mutating func update(_ value: Int64, at now: MonotonicInstant) -> Int64 {
    if let begin, now.nanoseconds(since: begin) < Self.window {
      current = min(current, value)
    } else {
      previous = current
      current = value
      begin = now
    }
    return min(current, previous)
  }
}
