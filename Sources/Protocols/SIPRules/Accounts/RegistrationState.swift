/// The state of an account's registration.
public enum RegistrationState: Equatable, Sendable {
  /// Calls reach this machine for `seconds`, and the registration is renewed before that.
  case registered(server: String, seconds: Int)
  /// Calls do not reach this machine; registration is retried after `retryingAfter` seconds.
  case failed(reason: String, retryingAfter: Int)
  /// This side has ended the registration.
  case ended
}
