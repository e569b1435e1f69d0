/// Reason why a call ended, as the app reports it.
public enum CXCallEndedReason: Int, Sendable {
  /// The call failed.
  case failed = 1
  /// The remote party ended it.
  case remoteEnded = 2
  /// It was not answered.
  case unanswered = 3
  /// It was answered on another device.
  case answeredElsewhere = 4
  /// It was declined on another device.
  case declinedElsewhere = 5
}
