/// Change of the time that received packets wait for the next playback callback.
package enum WaitChange: Equatable, Sendable {
  /// The waits are shorter by this number of nanoseconds; longer if it is negative.
  case shorter(by: Int64)
  /// The callback period has changed, in nanoseconds; the waits are spread over the new one.
  case period(from: Int64, to: Int64)
}
