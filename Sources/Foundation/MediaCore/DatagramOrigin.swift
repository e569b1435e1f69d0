/// Source of a datagram, relative to the addresses that a stream's transport knows.
@frozen
public enum DatagramOrigin: Equatable, Sendable, BitwiseCopyable {
  /// The address and port that the stream sends to.
  case agreed
  /// The address and port that was admitted beside it.
  case admitted
  /// Another port of the host that the stream sends to.
  case neighbour
  /// Any other address or port.
  case foreign
}
