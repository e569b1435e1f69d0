public import MediaCore

/// One datagram's place in the receive buffer, and when it came.
@frozen
public struct Arrival: Equatable, Sendable, BitwiseCopyable {
  /// Bytes received.
  public var length: Int
  /// When the kernel took it from the network.
  public var instant: MonotonicInstant
  /// Where it came from.
  public var origin: DatagramOrigin

  /// A datagram of `length` bytes.
  @inlinable
  public init(length: Int, instant: MonotonicInstant, origin: DatagramOrigin) {
    self.length = length
    self.instant = instant
    self.origin = origin
  }
}

/// The outcome of an attempt to receive.
@frozen
public enum TransportOutcome: Equatable, Sendable, BitwiseCopyable {
  /// A datagram was received.
  case received(Arrival)
  /// Nothing is waiting.
  case empty
  /// The far side's host reports the port as closed to which the voice is sent (ICMP); there may
  /// be more.
  case refused
  /// Another error was reported, perhaps of an earlier send; there may be more.
  case failed
}

/// The datagram path of one stream.
///
/// **Thread safety:** used by the voice thread only. Real: `UDPTransport`; a simulation has its
/// own.
public protocol PacketTransport: ~Copyable, SendableMetatype {
  /// Receives one datagram without waiting.
  ///
  /// `now` is when it looks, or a little before: what is not there counts as come later than that.
  @_noAllocation @_noLocks
  mutating func receive(
    into buffer: inout ByteBuffer,
    at now: MonotonicInstant
  ) -> TransportOutcome

  /// Takes the host that the last datagram came from for the far side's as well.
  @_noAllocation @_noLocks
  mutating func admitLastSource()

  /// Sends to where the last datagram came from, and takes that for the agreed host.
  @_noAllocation @_noLocks
  mutating func followLastSource()

  /// Takes only the agreed host for the far side's.
  @_noAllocation @_noLocks
  mutating func forgetAdmitted()

  /// Sends the first `length` bytes of `datagram` without waiting; a full socket buffer drops it.
  @_noAllocation @_noLocks
  mutating func send(_ datagram: borrowing ByteBuffer, length: Int, isControl: Bool)

  /// Leaves what it shares with other paths: the stream has said goodbye, and the voice thread does
  /// not use the path any more.
  @_noAllocation @_noLocks
  mutating func end()
}

extension PacketTransport where Self: ~Copyable {
  /// Does nothing.
  @_noAllocation @_noLocks
  public mutating func end() {}
}
