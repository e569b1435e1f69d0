public import MediaCore

/// Length, time and source of a received datagram.
@frozen
public struct Arrival: Equatable, Sendable, BitwiseCopyable {
  /// Number of bytes received.
  public var length: Int
  /// Time at which the kernel received the datagram from the network.
  public var instant: MonotonicInstant
  /// Source of the datagram.
  public var origin: DatagramOrigin

  /// Creates the arrival of a datagram of `length` bytes.
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
  /// No datagram is waiting.
  case empty
  /// The remote host reports that the port to which voice is sent is closed (ICMP).
  ///
  /// Datagrams may still be waiting.
  case refused
  /// Another error was reported, perhaps of an earlier send; datagrams may still be waiting.
  case failed
}

/// The datagram path of one stream.
///
/// **Thread safety:** used by the voice thread only. Real: `UDPTransport`; a simulation has its
/// own.
public protocol PacketTransport: ~Copyable, SendableMetatype {
  /// Receives one datagram without waiting.
  ///
  /// `now` is the present instant or slightly earlier: if no datagram is waiting, the next one
  /// counts as having arrived after `now`.
  @_noAllocation @_noLocks
  mutating func receive(
    into buffer: inout ByteBuffer,
    at now: MonotonicInstant
  ) -> TransportOutcome

  /// Also accepts media from the last datagram's source.
  @_noAllocation @_noLocks
  mutating func admitLastSource()

  /// Sends to the last datagram's source from now on, which becomes the agreed address.
  @_noAllocation @_noLocks
  mutating func followLastSource()

  /// Stops accepting media from the source that `admitLastSource` admitted.
  @_noAllocation @_noLocks
  mutating func forgetAdmitted()

  /// Sends the first `length` bytes of `datagram` without waiting; a full socket buffer drops it.
  ///
  /// `isControl` is true for RTCP.
  @_noAllocation @_noLocks
  mutating func send(_ datagram: borrowing ByteBuffer, length: Int, isControl: Bool)

  /// Releases everything shared with other paths.
  ///
  /// Called after the stream's last packet; the voice thread does not use the path again.
  @_noAllocation @_noLocks
  mutating func end()
}

extension PacketTransport where Self: ~Copyable {
  /// Does nothing.
  @_noAllocation @_noLocks
  public mutating func end() {}
}
