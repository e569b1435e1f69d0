package import MediaCore

/// The RTCP side of one stream: the times and contents of its reports, and the round-trip time that
/// the far side's reports give (RFC 3550 sections 6.2 and 6.4).
///
/// Pass it every item received, and call `takeReportDue` from time to time. Reports are 1.5 to
/// 2.5 s apart, the first comes after 0.5 s. RFC 3550 section 6.2 allows an interval of 2 s from a
/// session bandwidth of 180 kb/s on (360 s divided by the bandwidth in kb/s).
package struct RTCPSession: Sendable {
  /// Seconds between the NTP era (1900) and the Unix epoch.
  private static var ntpEpochOffset: Int64 { 2_208_988_800 }
  private static var intervalNanoseconds: Int64 { 2_000_000_000 }

  /// The round-trip time from the newest report that gave one; nil before the first.
  package private(set) var roundTripNanoseconds: Int64?
  /// The round-trip time from the newest report; nil if it gave none.
  package private(set) var newestRoundTripNanoseconds: Int64?
  /// True after the far side's BYE, until its next sender report or `restart`.
  package private(set) var isFarGone = false

  private let localSSRC: UInt32
  private var lastSenderReport: (middle: UInt32, arrival: MonotonicInstant)?
  private var sentLast: (middle: UInt32, at: MonotonicInstant)?
  private var sentBefore: (middle: UInt32, at: MonotonicInstant)?
  private var nextReportDue: MonotonicInstant?
  private var random: UInt64

  /// A session that reports as `localSSRC`; `seed` varies the times of its reports.
  package init(localSSRC: UInt32, seed: UInt64) {
    self.localSSRC = localSSRC
    random = seed | 1
  }

  /// The NTP time (32.32 bits since 1900) of a wall-clock time in nanoseconds since 1970.
  @_noAllocation @_noLocks
  package static func ntpTime(wallNanoseconds: Int64) -> UInt64 {
    let seconds = UInt64(bitPattern: wallNanoseconds / 1_000_000_000 + ntpEpochOffset)
    let fraction = UInt64(bitPattern: wallNanoseconds % 1_000_000_000) &<< 32 / 1_000_000_000
    return seconds &<< 32 | fraction
  }

  /// Handles one item that arrived at `instant`, in a stream whose source is `remoteSSRC`, if
  /// known.
  @_noAllocation @_noLocks
  package mutating func receive(
    _ item: RTCPItem,
    from remoteSSRC: UInt32?,
    at instant: MonotonicInstant
  ) {
    switch item {
    case .senderInformation(let ssrc, let information):
      guard ssrc == remoteSSRC || remoteSSRC == nil else { return }
      lastSenderReport = (information.middleOfNTPTime, instant)
      isFarGone = false
    case .report(_, let block):
      guard block.ssrc == localSSRC else { return }
      newestRoundTripNanoseconds = nil
      guard let sent = sendingInstant(of: block.lastSenderReport) else { return }
      // In two steps, so that no delay overflows.
      let ticks = Int64(block.delaySinceLastSenderReport)
      let delay = ticks / 65_536 * 1_000_000_000 + ticks % 65_536 * 1_000_000_000 / 65_536
      let roundTrip = instant.nanoseconds(since: sent) - delay
      // A far side that counts its delay coarsely may seem to have answered before it was asked.
      guard roundTrip >= 0 else { return }
      roundTripNanoseconds = roundTrip
      newestRoundTripNanoseconds = roundTrip
    case .losses:
      break
    case .goodbye(let ssrc):
      if ssrc == remoteSSRC { isFarGone = true }
    }
  }

  /// Forgets the sender reports and BYE of the far side's source, for a change of source.
  @_noAllocation @_noLocks
  package mutating func restart() {
    lastSenderReport = nil
    isFarGone = false
  }

  /// Notes that a sender report with `information` is sent at `now`: the far side's reports will
  /// refer to it.
  ///
  /// The round trip is measured by the monotonic clock, so that steps of the wall clock do not
  /// matter.
  @_noAllocation @_noLocks
  package mutating func noteSending(_ information: RTCPSenderInformation, at now: MonotonicInstant)
  {
    sentBefore = sentLast
    sentLast = (information.middleOfNTPTime, now)
  }

  @_noAllocation @_noLocks
  private func sendingInstant(of middle: UInt32) -> MonotonicInstant? {
    if let sentLast, sentLast.middle == middle { return sentLast.at }
    if let sentBefore, sentBefore.middle == middle { return sentBefore.at }
    return nil
  }

  /// Returns true if a report is due at `now`, and then schedules the next one.
  @_noAllocation @_noLocks
  package mutating func takeReportDue(at now: MonotonicInstant) -> Bool {
    guard let due = nextReportDue else {
      // The first report comes early, so that the round trip is known soon.
      nextReportDue = now.advanced(byNanoseconds: Self.intervalNanoseconds / 4)
      return false
    }
    guard now >= due else { return false }
    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    let half = Self.intervalNanoseconds / 2
    let spread = Int64(random &>> 33) % half
    nextReportDue = now.advanced(byNanoseconds: half + half / 2 + spread)
    return true
  }

  /// Returns the report block on the received source at `now`, and starts the next loss interval.
  @_noAllocation @_noLocks
  package func reportBlock(
    on ssrc: UInt32,
    statistics: inout ReceptionStatistics,
    at now: MonotonicInstant
  ) -> RTCPReportBlock {
    var delay: UInt32 = 0
    if let lastSenderReport {
      let nanoseconds = max(0, now.nanoseconds(since: lastSenderReport.arrival))
      delay = UInt32(clamping: nanoseconds / 1_000_000 * 65_536 / 1_000)
    }
    return RTCPReportBlock(
      ssrc: ssrc,
      fractionLost: statistics.takeFractionLost(),
      cumulativeLost: Int32(clamping: statistics.cumulativeLost),
      highestSequence: UInt32(truncatingIfNeeded: statistics.highestSequence - 65_536),
      jitter: UInt32(clamping: Int64(statistics.jitterTicks)),
      lastSenderReport: lastSenderReport?.middle ?? 0,
      delaySinceLastSenderReport: delay
    )
  }
}
