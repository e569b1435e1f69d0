public import MediaTime

/// One datagram's place in the receive buffer, and when it came.
@frozen
public struct Arrival: Equatable, Sendable, BitwiseCopyable {
  /// Bytes received.
  public var length: Int
  /// When the kernel took it from the network.
  public var instant: MonotonicInstant
  /// True if it came from the host that is being sent to, or one that was admitted.
  public var isFromRemote: Bool

  /// A datagram of `length` bytes.
  @inlinable
  public init(length: Int, instant: MonotonicInstant, isFromRemote: Bool) {
    self.length = length
    self.instant = instant
    self.isFromRemote = isFromRemote
  }
}

/// What sending or receiving told about the path.
@frozen
public enum TransportOutcome: Equatable, Sendable, BitwiseCopyable {
  /// A datagram was received.
  case received(Arrival)
  /// Nothing is waiting.
  case empty
  /// The far side refused: its port is closed or its host unreachable (ICMP).
  case refused
}

/// The datagram path of one stream.
///
/// **Thread safety:** used by the voice thread only. Real: `UDPTransport`; a simulation has its own.
public protocol PacketTransport: ~Copyable, SendableMetatype {
  /// The descriptor to poll for reading, -1 if there is none.
  var descriptor: CInt { get }

  /// Receives one datagram without waiting.
  @_noAllocation @_noLocks
  mutating func receive(into buffer: inout ByteBuffer) -> TransportOutcome

  /// Takes the host that the last datagram came from for the far side's as well.
  @_noAllocation @_noLocks
  mutating func admitLastSource()

  /// Sends the first `length` bytes of `datagram` without waiting; a full socket buffer drops it. False: refused by the peer.
  @_noAllocation @_noLocks
  mutating func send(_ datagram: borrowing ByteBuffer, length: Int, isControl: Bool) -> Bool
}
