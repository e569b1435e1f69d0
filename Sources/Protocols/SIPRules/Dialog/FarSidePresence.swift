package import MediaCore

/// The presence of a dialog's far side, judged by the responses to OPTIONS requests in the dialog.
///
/// A server on the way answers for a far side that has gone (RFC 3261 section 12.2.1.2).
package struct FarSidePresence: Equatable, Sendable {
  /// The conclusion from a response, or from the lack of one.
  package enum Conclusion: Equatable, Sendable {
    /// Nothing: the far side is there, or nothing is known of it.
    case none
    /// The far side is there but its voice does not arrive, so a relay may have lost the call:
    /// agree on the media once more.
    case isUnheard
    /// The far side has gone: end the call.
    case isGone
  }

  /// Number of consecutive responses that say that a server cannot reach the far side.
  private var absences = 0
  /// Time at which the first of the consecutive unanswered requests during a hold was given up; nil
  /// without one.
  private var silentSince: MonotonicInstant?
  /// Number of 2xx responses during the current lack of voice.
  private var livingAnswers = 0
  private var lastLivingAnswer: MonotonicInstant?
  /// Value of `livingAnswers` at which the media is agreed on again.
  private var nextRevival = firstRevival
  /// Number of responses from that renegotiation to the next one, doubled each time.
  private var revivalPause = firstPause

  /// Number of consecutive `absences` that end the call; a connection may be lost for a moment.
  private static let mostAbsences = 2
  /// Time for which a network may be away while a call is held, in nanoseconds.
  ///
  /// Without a hold, the lack of voice is noticed much earlier.
  private static let longestSilence: Int64 = 600_000_000_000
  /// First values of `nextRevival` and `revivalPause`: requests are sent once a second, and a phone
  /// that suppresses silence is not bothered at once.
  private static let (firstRevival, firstPause) = (2, 4)
  /// Longest time between two 2xx responses in the same lack of voice, in nanoseconds.
  private static let longestPause: Int64 = 10_000_000_000

  // A server on the way says so that it got no answer either.
  private static let unanswered: Set<Int> = [408, 504]
  // A server has no connection to it (Kamailio: 477), or gets nonsense from there.
  private static let absent: Set<Int> = [477, 502]
  // A server is busy, or a phone would take no other call now (RFC 3261 section 11.2): that says
  // nothing of this one.
  private static let unavailable: Set<Int> = [480, 503]
  // It knows nothing of the call.
  private static let ends: Set<Int> = [404, 410, 481]

  /// True if a final status shows that the far side is there, whether or not it supports the
  /// request; nil stands for no response.
  package static func isPresent(_ status: Int?) -> Bool {
    status.map { !unanswered.union(ends).union(absent).union(unavailable).contains($0) } ?? false
  }

  /// A presence of which nothing is known yet.
  package init() {}

  /// Notes that a hold has begun or ended: unanswered requests before it do not count any more.
  package mutating func noteHold() {
    silentSince = nil
  }

  /// Notes the final status of a request, nil if there was no response, and returns the conclusion.
  ///
  /// While either side holds the call, which is `isHeld`, no voice is expected.
  package mutating func note(
    _ status: Int?,
    isHeld: Bool,
    at now: MonotonicInstant
  ) -> Conclusion {
    if let status, Self.unavailable.contains(status) { return .none }
    guard let status, !Self.unanswered.contains(status) else {
      guard isHeld else { return .none }
      let since = silentSince ?? now
      silentSince = since
      return now.nanoseconds(since: since) < Self.longestSilence ? .none : .isGone
    }
    silentSince = nil
    if Self.ends.contains(status) { return .isGone }
    if Self.absent.contains(status) {
      absences += 1
      return absences < Self.mostAbsences ? .none : .isGone
    }
    absences = 0
    guard (200..<300).contains(status), !isHeld else { return .none }
    if let last = lastLivingAnswer, now.nanoseconds(since: last) > Self.longestPause {
      livingAnswers = 0
      nextRevival = Self.firstRevival
      revivalPause = Self.firstPause
    }
    lastLivingAnswer = now
    livingAnswers += 1
    guard livingAnswers == nextRevival else { return .none }
    // It may be silent on purpose: less and less often.
    nextRevival += revivalPause
    revivalPause *= 2
    return .isUnheard
  }
}
