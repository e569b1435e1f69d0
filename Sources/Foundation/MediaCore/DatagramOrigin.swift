/// Which host and port a datagram came from, as seen by the transport of a stream.
@frozen
public enum DatagramOrigin: Equatable, Sendable, BitwiseCopyable {
  /// The one that is being sent to.
  case agreed
  /// One that was admitted beside it.
  case admitted
  /// Any other.
  case foreign
}
