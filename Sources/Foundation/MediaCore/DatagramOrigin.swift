/// Source of a datagram, relative to the addresses that a stream's transport knows.
@frozen
public enum DatagramOrigin: Equatable, Sendable, BitwiseCopyable {
  /// The address and port that the stream sends to.
  case agreed
  /// A second address and port, admitted by `PacketTransport.admitLastSource`.
  case admitted
  /// Another port of the host that the stream sends to.
  case neighbour
  /// Any other address or port.
  case foreign
}
