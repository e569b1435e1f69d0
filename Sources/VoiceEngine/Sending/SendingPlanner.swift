import MediaTime
import OpusCodec
import RTP

/// Decides how a voice is sent, from what the far side reports of it.
///
/// | The far side sees | Packets |
/// |---|---|
/// | no loss and little jitter, for a while | 5 ms, low delay, at a higher rate: they arrive sooner and sound better |
/// | losses | as configured, each with copies of as many before it as mend what is lost |
/// | losses, and takes no copies | as configured, with in-band redundancy (RFC 6716 section 2.1.7) |
/// | losses, and each packet waits longer on its way | fewer bits: the way is too narrow |
///
/// A change for better waits until it has proved right for a while, longer after each failure; one for worse comes with
/// the report that asks for it.
struct SendingPlanner: ~Copyable {
  /// What is gained by the first copy, and by each further one, must be more than this share of the packets.
  private static var firstGain: Double { 0.002 }
  private static var furtherGain: Double { 0.005 }
  /// Links that lose less than this are clean, those that lose more than `bad` are not.
  private static var clean: Double { 0.000_5 }
  private static var bad: Double { 0.005 }
  /// The jitter (RFC 3550) up to which a link is clean, and from which it is not, in nanoseconds.
  private static var calmJitter: Int64 { 2_000_000 }
  private static var wildJitter: Int64 { 5_000_000 }
  /// How long a link has to be clean at first, and at most, before it is believed.
  private static var firstPatience: Int64 { 4_000_000_000 }
  private static var longestPatience: Int64 { 64_000_000_000 }
  private static var lowDelayFrames: FrameCount { 240 }
  private static var lowDelayBitrate: Int { 96_000 }
  /// Payloads together, without headers.
  private static var widest: Int { 200_000 }
  private static var narrowest: Int { 24_000 }
  /// A way is too narrow if packets are lost and wait so much longer than they did at best, in nanoseconds.
  private static var queueing: Int64 { 100_000_000 }

  /// What to do now.
  private(set) var plan: SendingPlan

  private let configured: SendingPlan
  private let adaptsPackets: Bool
  private let sendsCopies: Bool
  private let usesInBandRedundancy: Bool
  private var losses = LossEstimate()
  private var bitrate: Int
  /// Bits per second that the way is believed to carry, payloads only.
  private var ceiling = Self.widest
  private var jitter: Int64 = 0
  private var cleanSince: MonotonicInstant?
  private var patience = Self.firstPatience
  private var shortestRoundTrip: Int64?

  init(_ configuration: StreamConfiguration) {
    configured = SendingPlan(
      application: configuration.packetFrames < 480 ? .lowDelay : .speech,
      packetFrames: configuration.packetFrames,
      bitrate: configuration.bitrate,
      redundancyDepth: 0,
      expectedLossPercent: 0
    )
    plan = configured
    bitrate = configuration.bitrate
    sendsCopies = configuration.sendRedundancyPayloadType != nil
    adaptsPackets = configuration.adaptsPackets
    usesInBandRedundancy = configuration.usesRedundancy && configuration.codec == .opus
  }

  /// Changes the bit rate of a payload.
  @_noAllocation @_noLocks
  mutating func setBitrate(_ bitsPerSecond: Int) {
    bitrate = bitsPerSecond
    plan.bitrate = bitsPerSecond
  }

  /// Takes in which packets came, as the far side told at `now`.
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
    // The report that came with it knew nothing of this yet.
    if sendsCopies { decide(at: now) }
  }

  /// Takes in a report: the share lost since the one before in 1/256, the jitter, and the round trip if it is known, in
  /// nanoseconds.
  @_noAllocation @_noLocks
  mutating func receive(
    fractionLost: Int,
    jitterNanoseconds jitter: Int64,
    roundTripNanoseconds roundTrip: Int64?,
    at now: MonotonicInstant
  ) {
    guard sendsCopies else { return adaptInBandRedundancy(toFractionLost: fractionLost) }
    noteWidth(fractionLost: fractionLost, roundTrip: roundTrip)
    self.jitter = jitter
    decide(at: now)
  }

  // In-band redundancy is paid for in quality, so it follows the loss that the far side sees.
  @_noAllocation @_noLocks
  private mutating func adaptInBandRedundancy(toFractionLost fraction: Int) {
    guard usesInBandRedundancy else { return }
    let percent = min(25, (fraction * 100 + 255) / 256)
    let expected = plan.expectedLossPercent
    plan.expectedLossPercent = percent > expected ? percent : (expected + percent) / 2
  }

  @_noAllocation @_noLocks
  private mutating func noteWidth(fractionLost: Int, roundTrip: Int64?) {
    guard let roundTrip else { return }
    let shortest = shortestRoundTrip.map { min($0, roundTrip) } ?? roundTrip
    shortestRoundTrip = shortest
    if fractionLost > 5, roundTrip - shortest > Self.queueing {
      let sent = plan.bitrate * (plan.redundancyDepth + 1)
      ceiling = max(Self.narrowest, min(ceiling, sent) * 3 / 4)
    } else {
      ceiling = min(Self.widest, ceiling + ceiling / 32)
    }
  }

  // A link is clean while nothing is heard of loss or jitter, and bad when there is too much of it.
  @_noAllocation @_noLocks
  private mutating func noteCleanness(at now: MonotonicInstant) {
    let share = losses.share(depth: 0)
    if isLowDelay, share > Self.bad || jitter > Self.wildJitter {
      cleanSince = nil
      patience = min(2 * patience, Self.longestPatience)
    } else if !isLowDelay, share > Self.clean || jitter > Self.calmJitter {
      cleanSince = nil
    } else {
      cleanSince = cleanSince ?? now
    }
  }

  private var isLowDelay: Bool {
    @_noAllocation @_noLocks get { plan.packetFrames < configured.packetFrames }
  }

  @_noAllocation @_noLocks
  private mutating func decide(at now: MonotonicInstant) {
    noteCleanness(at: now)
    let wait = isLowDelay ? 0 : patience
    let isClean = cleanSince.map { now.nanoseconds(since: $0) >= wait } ?? false
    let room = max(ceiling, Self.narrowest)
    if adaptsPackets, isClean, room >= Self.lowDelayBitrate {
      plan = SendingPlan(
        application: .lowDelay,
        packetFrames: min(Self.lowDelayFrames, configured.packetFrames),
        bitrate: max(bitrate, Self.lowDelayBitrate),
        redundancyDepth: 0,
        expectedLossPercent: 0
      )
      return
    }
    plan = configured
    plan.redundancyDepth = depth(within: room)
    let fitting = room / (plan.redundancyDepth + 1)
    guard adaptsPackets, fitting < bitrate else { return plan.bitrate = bitrate }
    plan.bitrate = max(fitting, min(bitrate, Self.narrowest))
    // On a narrow way headers weigh more than a longer wait for each packet.
    if ceiling < Self.widest / 2 { plan.packetFrames = max(960, plan.packetFrames) }
  }

  @_noAllocation @_noLocks
  private func depth(within room: Int) -> Int {
    var depth = 0
    while depth < LossEstimate.deepest, (depth + 2) * Self.narrowest <= room {
      let gain = losses.share(depth: depth) - losses.share(depth: depth + 1)
      guard gain > (depth == 0 ? Self.firstGain : Self.furtherGain) else { break }
      depth += 1
    }
    return depth
  }
}
