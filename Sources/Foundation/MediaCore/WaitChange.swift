/// Change of the time for which packets wait for the playback callback.
package enum WaitChange: Equatable, Sendable {
  /// Each wait is shorter by so many nanoseconds, or longer if negative.
  case shorter(by: Int64)
  /// Callbacks come after other periods than before, in nanoseconds, so the waits are spread over
  /// another one.
  case period(from: Int64, to: Int64)
}
