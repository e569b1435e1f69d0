package import MediaCore

/// Target of the playout delay, learned from packet arrivals.
///
/// A packet's delay is its arrival relative to a baseline, which the fastest packets of the last
/// two seconds set, plus its wait for the next playback callback; in nanoseconds. Since the wait is
/// measured, no margin for the callback period is needed. The target minimises delay plus the cost
/// of late packets (`DelayHistogram.cheapest`), so it includes the wait for redundancy if that
/// pays. When the path becomes slower for good (a route change), the baseline rises after two
/// seconds, and the delays measured meanwhile fall with it. `Documentation/Playout.md` derives it.
package struct DelayTarget: ~Copyable {
  /// The price of a missing packet, in nanoseconds: one in a thousand is worth 64 ms of delay.
  ///
  /// Found with `bench playout` on seeds of its own: with less, calls with stalls sounded worse
  /// than NetEQ's.
  private static var price: Float { @_noAllocation @_noLocks get { 64e9 } }
  /// Price of a missing packet at delays within jitter and below `unnoticed`, in nanoseconds.
  ///
  /// Found in the same way: with 64e9 one sentence of fifty sounded worse through Wi-Fi than with
  /// NetEQ, with 300e9 it is no better than with 200e9. Packets held back by stalls are not worth
  /// it.
  private static var usualPrice: Float { @_noAllocation @_noLocks get { 200e9 } }
  private static var unnoticed: Int64 { 50_000_000 }
  /// Mouth-to-ear delay in nanoseconds beyond which talkers notice it, and it costs `feltFactor`
  /// times as much.
  ///
  /// ITU-T G.107 rates a millisecond at 0.024 of its scale up to here and at 0.134 from here on, in
  /// the fit by Cole and Rosenbluth (2001).
  private static var felt: Int64 { 177_000_000 }
  private static var feltFactor: Float { @_noAllocation @_noLocks get { 5.6 } }
  /// Duration of media received so far, in nanoseconds, below which the target is at least
  /// `youngTarget`.
  private static var youngNanoseconds: Int64 { 300_000_000 }
  private static var youngTarget: Int64 { 6_000_000 }
  /// Largest rise of the baseline, in nanoseconds, that always counts as jitter; so does one of up
  /// to twice the median delay.
  private static var rebaseStep: Int64 { 3_000_000 }
  /// Gap between two arrivals, in nanoseconds, from which on it counts as a pause.
  private static var continuity: Int64 { 200_000_000 }
  /// Time without a pause, in nanoseconds, after which a risen baseline counts as a slower path.
  private static var rebaseKnowledge: Int64 { 1_000_000_000 }
  /// Largest jitter as a multiple of its mean; longer delays are stalls or redundancy.
  ///
  /// Found like `price`: with 7, more packets are late early in a call; without a limit, calls with
  /// stalls wait 10 ms longer without benefit.
  private static var usualTail: Float { 9 }
  private static var choiceInterval: Int64 { 20_000_000 }
  /// Number of packets of one duration after which a longer one is a change by the sender.
  private static var settledPackets: Int { 16 }
  /// Additional look-ahead of libopus, in nanoseconds, for packets of 10 ms and more from a sender
  /// like ours.
  private static var lookAheadStep: Int64 { 4_000_000 }
  /// Least margin added to the target, in nanoseconds, since the delay is steered only once per
  /// packet.
  private static var leastReserve: Int64 { 250_000 }
  private static var reserveShare: Int64 { 80 }
  private static var maximumTarget: Int64 { 1_000_000_000 }

  /// Target of the playout delay beyond the fastest packet, in nanoseconds.
  package private(set) var nanoseconds: Int64
  /// Mouth-to-ear delay of the fastest packet outside the playout buffer, in nanoseconds; 0 if that
  /// is not known.
  package var delayElsewhere: Int64 = 0

  private let mechanisms: PlayoutMechanisms
  private var fastest: BaselineEstimator
  private var reference: Int64?
  private var histogram: DelayHistogram
  private var received: Int64 = 0
  /// Moving average of the wait for the playback callback, in nanoseconds.
  private var usualWait: Float = 0
  private var packets: Float = 0
  private var sinceChosen: Int64 = 0
  private var lastArrival: MonotonicInstant?
  /// First frame and duration of the newest packet, and the number of packets in a row that
  /// repeated its duration.
  private var newestFrame: Int64 = .min
  private var newestFrames: FrameCount = 0
  private var sameFrames = 0
  private var lastDelay: Int64 = 0
  private var continuousSince = MonotonicInstant(nanoseconds: 0)

  /// A target before the first packet.
  package init(_ mechanisms: PlayoutMechanisms = PlayoutMechanisms()) {
    self.mechanisms = mechanisms
    fastest = BaselineEstimator(mechanisms)
    histogram = DelayHistogram(mechanisms)
    nanoseconds = Self.youngTarget
  }

  /// Learns from one packet: the media time of its first frame, its duration, its arrival, and its
  /// wait for the next playback callback in nanoseconds.
  ///
  /// `isUsual` is false while this machine's own sound device stalls, and just after it: such a
  /// delay says nothing about the path, and moves the baseline only.
  @_noAllocation @_noLocks
  package mutating func update(
    mediaFrame: Int64,
    frames: FrameCount,
    arrival: MonotonicInstant,
    wait: Int64,
    isUsual: Bool = true
  ) {
    let transit = arrival.nanoseconds - SampleRate.voice.nanoseconds(of: Int(mediaFrame))
    noteDuration(frames, of: mediaFrame)
    let minimum = fastest.update(transit, at: arrival)
    let pause = lastArrival.map { arrival.nanoseconds(since: $0) } ?? .max
    lastArrival = arrival
    if pause >= Self.continuity { continuousSince = arrival }
    var isProved = true
    if let reference, minimum - reference > Self.rebaseStep,
      minimum - reference > 2 * histogram.quantile(0.5)
    {
      // After a pause the window holds the newest packet only, which may be a late one.
      let known = arrival.nanoseconds(since: continuousSince)
      isProved = known > Self.rebaseKnowledge || !mechanisms.provedRise
      if isProved { histogram.shift(by: minimum - reference) }
    }
    if isProved { reference = minimum }
    guard isUsual else { return }

    let duration = SampleRate.voice.nanoseconds(of: frames)
    let delay = transit + wait - (reference ?? minimum)
    let isEvent =
      !isCatchingUp(delay: delay, duration: duration, after: pause)
    if isEvent { histogram.add(delay: delay, duration: duration) }
    lastDelay = delay
    usualWait += (Float(wait) - usualWait) / 256
    received += duration
    packets += 1
    // Chosen again when a packet was later than the target, else fifty times a second; not while it
    // is open whether the path has become slower.
    sinceChosen += duration
    let reserve = max(Self.leastReserve, duration / Self.reserveShare)
    let isSurprise = isEvent && delay > nanoseconds - reserve
    guard isProved, isSurprise || sinceChosen >= Self.choiceInterval else { return }
    sinceChosen = 0
    let price = DelayHistogram.Price(
      anywhere: Self.price,
      usual: mechanisms.usualPrice ? Self.usualPrice : Self.price,
      usualEnd: min(usualLimit, Self.unnoticed),
      feltAfter: mechanisms.feltDelay ? max(0, Self.felt - delayElsewhere) : .max,
      feltFactor: Self.feltFactor
    )
    var wanted = histogram.cheapest(at: price)
    if mechanisms.unseenTail { wanted = max(wanted, careful(wanted, at: price)) }
    if mechanisms.beginning, received < Self.youngNanoseconds {
      wanted = max(wanted, Self.youngTarget)
    }
    nanoseconds = min(wanted + reserve, Self.maximumTarget)
  }

  // A longer packet leaves later, counted from its first frame, and the path is not to blame. Were
  // it taken for jitter, it would be remembered for minutes. The other way needs no care: what
  // comes earlier lowers the baseline at once.
  @_noAllocation @_noLocks
  private mutating func noteDuration(_ frames: FrameCount, of mediaFrame: Int64) {
    guard mediaFrame > newestFrame else { return }
    newestFrame = mediaFrame
    guard frames != newestFrames else { return sameFrames += 1 }
    let isSettled = sameFrames >= Self.settledPackets
    let former = newestFrames
    newestFrames = frames
    sameFrames = 0
    guard mechanisms.longerPackets, isSettled, frames > former else { return }
    let lookAhead = former < 480 && frames >= 480 ? Self.lookAheadStep : 0
    let later = SampleRate.voice.nanoseconds(of: frames - former) + lookAhead
    fastest.raise(by: later)
    if let before = reference { reference = before + later }
  }

  // Jitter is what is left of the mean delay without the wait for the player, which has an end:
  // twice its mean.
  private var usualLimit: Int64 {
    @_noAllocation @_noLocks get {
      guard mechanisms.jitterReach else { return .max }
      return Int64(Self.usualTail * max(0, histogram.mean - usualWait) + 2 * usualWait)
    }
  }

  // The next packet is later than all of n before it with a chance of one in n: what was seen so
  // far is not all there will be, the less so the less was seen. Were the late ones distributed
  // exponentially, it would pay to wait so much longer than `wanted`, at either price.
  @_noAllocation @_noLocks
  private func careful(_ wanted: Int64, at price: DelayHistogram.Price) -> Int64 {
    // From one in ten to one in a hundred such a tail grows by ln 10 of its scale; jitter that has
    // an end grows by less.
    let scale = Float(histogram.quantile(0.99) - histogram.quantile(0.9)) / 2.303
    guard scale > 0, packets > 0 else { return wanted }
    let late = DelayHistogram.costOfLateness(mean: scale) / (packets * scale)
    let anywhere = longer(wanted, by: scale, price.anywhere * late, price)
    let usually = longer(wanted, by: scale, price.usual * late, price)
    return max(min(anywhere, usualLimit), min(usually, price.usualEnd))
  }

  // Where waiting longer than `wanted` for a tail of such a scale, whose lateness costs `late` at
  // once, stops to pay.
  @_noAllocation @_noLocks
  private func longer(
    _ wanted: Int64,
    by scale: Float,
    _ late: Float,
    _ price: DelayHistogram.Price
  ) -> Int64 {
    let before = wanted + Int64(scale * Self.logarithm(late))
    guard before > price.feltAfter else { return before }
    let after = wanted + Int64(scale * Self.logarithm(late / price.feltFactor))
    return max(after, max(wanted, min(before, price.feltAfter)))
  }

  // To a tenth, as the bits of a number hold it; 0 for what is less than 1.
  @_noAllocation @_noLocks
  private static func logarithm(_ number: Float) -> Float {
    number > 1 ? (Float(number.bitPattern) / 8_388_608 - 127) * 0.693 : 0
  }

  /// Records that a packet is missing and that one beginning `distance` frames later repeats it.
  ///
  /// Call it before `update` for that later packet.
  @_noAllocation @_noLocks
  package mutating func noteRecovery(distance: FrameCount) {
    histogram.addRecovery(distance: SampleRate.voice.nanoseconds(of: distance))
  }

  // What a stall held back comes all at once, each packet less late than the one before: one event,
  // for which its first packet speaks.
  @_noAllocation @_noLocks
  private func isCatchingUp(
    delay: Int64,
    duration: Int64,
    after pause: Int64
  ) -> Bool {
    mechanisms.bursts && delay < lastDelay && pause < duration / 4
  }

  /// Returns the delay beyond the fastest packet, in nanoseconds, of the frame at `mediaFrame` if
  /// it is played at `instant`; nil before the first packet.
  @_noAllocation @_noLocks
  package func delay(ofFrame mediaFrame: Int64, at instant: MonotonicInstant) -> Int64? {
    guard let reference else { return nil }
    return instant.nanoseconds - SampleRate.voice.nanoseconds(of: Int(mediaFrame)) - reference
  }

  /// Adapts the learned delays to a change of the waits for the playback callback.
  ///
  /// Longer periods are not applied: their waits are learned as packets arrive, as are those of
  /// packets that just miss a callback.
  @_noAllocation @_noLocks
  package mutating func noteWaits(_ change: WaitChange) {
    switch change {
    case .shorter(let nanoseconds):
      histogram.shift(by: nanoseconds)
      usualWait = max(0, usualWait - Float(nanoseconds))
    case .period(let before, let after):
      guard after > 0, after < before else { return }
      histogram.shrinkWaits(from: before, to: after)
      usualWait *= Float(after) / Float(before)
    }
  }

  /// Forgets the time base, as when the stream restarts; the histogram of delays is kept.
  @_noAllocation @_noLocks
  package mutating func rebase() {
    fastest.reset()
    reference = nil
    newestFrame = .min
    sameFrames = 0
  }
}
