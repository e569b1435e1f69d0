package import MediaCore

/// Whether the far side of a dialog is still there, by what becomes of OPTIONS requests in it: a
/// server on the way answers for a far side that has gone (RFC 3261 section 12.2.1.2).
package struct FarSidePresence: Equatable, Sendable {
  /// What follows from an answer.
  package enum Conclusion: Equatable, Sendable {
    /// Nothing: the far side is there, or nothing is known of it.
    case none
    /// The far side is there and not heard, so a relay may have lost the call: agree on the media
    /// once more.
    case isUnheard
    /// The call is over.
    case isGone
  }

  /// How many answers in a row said that the far side is not there now.
  private var absences = 0
  /// When the first of the questions was given up that had no answer, of those in a row during a
  /// hold.
  private var silentSince: MonotonicInstant?
  /// How often the far side has said that it is there, though it is not heard.
  private var livingAnswers = 0
  private var lastLivingAnswer: MonotonicInstant?
  /// After how many of them, and after how many more the next time, the media is agreed on again.
  private var nextRevival = firstRevival
  private var revivalPause = firstPause

  /// A proxy may be busy for a moment.
  private static let mostAbsences = 2
  /// How long a network may be away while a call is held.
  ///
  /// Without a hold the voice is missed much earlier.
  private static let longestSilence: Int64 = 600_000_000_000
  /// It is asked once a second, and a phone that suppresses silence is not bothered at once.
  private static let (firstRevival, firstPause) = (2, 4)
  /// It is asked so often while it is silent: later it is another silence, in nanoseconds.
  private static let longestPause: Int64 = 10_000_000_000

  // A server on the way says so that it got no answer either.
  private static let unanswered: Set<Int> = [408, 504]
  // It knows nothing of the call.
  private static let ends: Set<Int> = [404, 410, 481]
  private static let absent: Set<Int> = [477, 480, 502, 503]

  /// True for the final status of one that is there, whether or not it takes the question; nil is
  /// no answer.
  package static func isPresent(_ status: Int?) -> Bool {
    status.map { !unanswered.union(ends).union(absent).contains($0) } ?? false
  }

  /// Nothing has been asked.
  package init() {}

  /// Notes that a hold has begun or ended: questions before it say nothing about what follows.
  package mutating func noteHold() {
    silentSince = nil
  }

  /// Notes the final status that a question got, nil if it got none; while either side holds the
  /// call nothing is to be heard.
  package mutating func note(
    _ status: Int?,
    isHeld: Bool,
    at now: MonotonicInstant
  ) -> Conclusion {
    guard let status, !Self.unanswered.contains(status) else {
      guard isHeld else { return .none }
      let since = silentSince ?? now
      silentSince = since
      return now.nanoseconds(since: since) < Self.longestSilence ? .none : .isGone
    }
    silentSince = nil
    switch status {
    case _ where Self.ends.contains(status): return .isGone
    case _ where Self.absent.contains(status):
      absences += 1
      return absences < Self.mostAbsences ? .none : .isGone
    default: absences = 0
    }
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
