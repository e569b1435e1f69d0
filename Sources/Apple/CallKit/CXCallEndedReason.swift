/// Why a call ended that the app reports as ended.
public enum CXCallEndedReason: Int, Sendable {
  /// It failed.
  case failed = 1
  /// The far side ended it.
  case remoteEnded = 2
  /// It was not answered.
  case unanswered = 3
  /// It was taken on another device.
  case answeredElsewhere = 4
  /// It was declined on another device.
  case declinedElsewhere = 5
}
