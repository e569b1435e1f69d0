/// The host that a datagram came from, as the transport of a stream knows it.
@frozen
public enum DatagramOrigin: Equatable, Sendable, BitwiseCopyable {
  /// The one that is being sent to.
  case agreed
  /// One that was admitted beside it.
  case admitted
  /// Any other.
  case foreign
}
