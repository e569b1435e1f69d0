/// Turns 16-bit sequence numbers into ones that never wrap (RFC 3550 appendix A.1).
///
/// The extended number is the one nearest to the newest accepted. `extend` changes nothing;
/// `accept` moves the reference forward. Numbers start one cycle up (65,536), so that packets
/// reordered before the first one stay positive.
package struct SequenceExtender: Sendable {
  /// The newest extended number accepted, nil before the first.
  package private(set) var newest: Int64?

  /// An extender that has seen nothing.
  @_noAllocation @_noLocks
  package init() {}

  /// The extended number of `sequenceNumber`.
  @_noAllocation @_noLocks
  package func extend(_ sequenceNumber: UInt16) -> Int64 {
    guard let newest else { return 65_536 + Int64(sequenceNumber) }
    let step = Int16(bitPattern: sequenceNumber &- UInt16(truncatingIfNeeded: newest))
    return newest + Int64(step)
  }

  /// Notes that the packet with this extended number belongs to the stream.
  @_noAllocation @_noLocks
  package mutating func accept(_ extended: Int64) {
    newest = max(newest ?? extended, extended)
  }

  /// Forgets the stream.
  @_noAllocation @_noLocks
  package mutating func reset() {
    newest = nil
  }
}
