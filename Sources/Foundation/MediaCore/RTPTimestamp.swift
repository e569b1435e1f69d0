/// The 32-bit media clock of an RTP stream (RFC 3550 section 5.1), which wraps and starts at any
/// value.
@frozen
public struct RTPTimestamp: Hashable, Sendable, BitwiseCopyable {
  /// The value on the wire, in units of the payload format's clock rate.
  public var rawValue: UInt32

  /// A timestamp with the given value on the wire.
  @_noAllocation @_noLocks @inlinable
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// The timestamp `ticks` later, wrapping.
  @_noAllocation @_noLocks @inlinable
  public func advanced(by ticks: Int) -> RTPTimestamp {
    RTPTimestamp(rawValue: rawValue &+ UInt32(truncatingIfNeeded: ticks))
  }

  /// Ticks from `other` to this timestamp by the shorter way round: -2^31 to 2^31 - 1.
  @_noAllocation @_noLocks @inlinable
  public func ticks(since other: RTPTimestamp) -> Int {
    Int(Int32(bitPattern: rawValue &- other.rawValue))
  }
}
