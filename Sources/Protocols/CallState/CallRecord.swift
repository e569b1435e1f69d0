/// Result of a call, for the list of recent calls (R57, R65).
package enum CallResult: String, Equatable, Sendable, CaseIterable {
  /// Both sides could talk.
  case talked
  /// Incoming; missed.
  case missed
  /// Incoming; declined by the user.
  case declined
  /// Incoming; answered on another device.
  case answeredElsewhere
  /// Incoming; declined on another device.
  case declinedElsewhere
  /// Outgoing; not answered.
  case unanswered
  /// Outgoing; given up by the user.
  case cancelled
  /// An error ended it.
  case failed
}

/// Reason why a call ended, as an app reports it, with Apple's numbers.
package enum EndedReason: Int, Equatable, Sendable {
  /// An error.
  case failed = 1
  /// The remote party ended the call.
  case remoteEnded = 2
  /// Not answered.
  case unanswered = 3
  /// Answered on another device.
  case answeredElsewhere = 4
  /// Declined on another device.
  case declinedElsewhere = 5
}

/// A call that is over, for the list of recent calls (R104).
package struct CallRecord: Equatable, Sendable {
  /// Identity of the call.
  package let id: CallID
  /// Provider of the call.
  package let provider: ProviderID
  /// Name of the app.
  package let app: String
  /// PNG file with the app's icon; nil for the system's.
  package let icon: [UInt8]?
  /// True if this side placed it.
  package let isOutgoing: Bool
  /// Remote party and capabilities of the call.
  package let details: CallDetails
  /// Time at which the call appeared, or its invitation was sent.
  package let started: CallDate
  /// Time at which both sides could talk; nil if never.
  package let connected: CallDate?
  /// Time at which the call ended.
  package let ended: CallDate
  /// Result of the call.
  package let result: CallResult
  /// True if the app can dial handles of the remote party's kind (R106); false without a handle.
  package let canBeCalledBack: Bool
}
