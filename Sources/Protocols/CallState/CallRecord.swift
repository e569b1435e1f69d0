/// How a call came out, for the list of recent calls (R57, R65).
package enum CallResult: String, Equatable, Sendable, CaseIterable {
  /// Both sides could talk.
  case talked
  /// Incoming, missed.
  case missed
  /// Incoming, the user declined it.
  case declined
  /// Incoming, taken on another device.
  case answeredElsewhere
  /// Incoming, declined on another device.
  case declinedElsewhere
  /// Outgoing, not answered.
  case unanswered
  /// Outgoing, given up by the user.
  case cancelled
  /// An error ended it.
  case failed
}

/// Why an app says that a call ended; numbers as Apple gives them.
package enum EndedReason: Int, Equatable, Sendable {
  /// An error.
  case failed = 1
  /// The far side ended it.
  case remoteEnded = 2
  /// Not answered.
  case unanswered = 3
  /// Taken on another device.
  case answeredElsewhere = 4
  /// Declined on another device.
  case declinedElsewhere = 5
}

/// A call that is over, as the list of recent calls keeps it (R104).
package struct CallRecord: Equatable, Sendable {
  /// The call.
  package let id: CallID
  /// Whose call it was.
  package let provider: ProviderID
  /// The app's name.
  package let app: String
  /// The app's icon, the bytes of a PNG file; nil for the system's.
  package let icon: [UInt8]?
  /// True if this side placed it.
  package let isOutgoing: Bool
  /// Who, and what it could do.
  package let details: CallDetails
  /// When it appeared, or when the invitation was sent.
  package let started: CallDate
  /// When both sides could talk, nil if never.
  package let connected: CallDate?
  /// When it ended.
  package let ended: CallDate
  /// How it came out.
  package let result: CallResult
  /// Whether the app says that it can dial such a handle (R106).
  package let canBeCalledBack: Bool
}
