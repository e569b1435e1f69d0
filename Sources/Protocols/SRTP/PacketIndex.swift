/// Replay list of one source: the packets received, by their index, which is the sequence number
/// with the roll-over counter above it (RFC 3711 sections 3.3.1 and 3.3.2).
///
/// Only `accept` changes it, which is for authenticated packets.
struct PacketIndex: BitwiseCopyable {
  /// Size of the replay window, in packets: 2.5 s of the shortest packets.
  static var reach: Int64 { 1_024 }

  /// Index of the newest packet; negative before the first.
  private var newest: Int64 = -1
  /// One bit for each of the newest packets, by the index modulo `reach`.
  private var seen = InlineArray<16, UInt64>(repeating: 0)

  @_noAllocation @_noLocks
  private init() {}

  /// The record of a source from which nothing was received.
  static var none: PacketIndex { @_noAllocation @_noLocks get { PacketIndex() } }

  /// Returns the index for a sequence number: the nearest one to the newest packet's (RFC 3711
  /// section 3.3.1); nil if that is not in 0 to 2^48 - 1.
  @_noAllocation @_noLocks
  func index(of sequenceNumber: UInt16) -> Int64? {
    guard newest >= 0 else { return Int64(sequenceNumber) }
    let step = Int16(bitPattern: sequenceNumber &- UInt16(truncatingIfNeeded: newest))
    let index = newest + Int64(step)
    return index >= 0 && index < Int64(1) << 48 ? index : nil
  }

  /// True if a packet counts as new: it was not received before, and is not too old for the record.
  @_noAllocation @_noLocks
  func mayAccept(_ index: Int64) -> Bool {
    if index > newest { return true }
    guard newest - index < Self.reach else { return false }
    let (word, bit) = Self.place(of: index)
    return seen[word] & bit == 0
  }

  /// Adds an authenticated packet to the record.
  @_noAllocation @_noLocks
  mutating func accept(_ index: Int64) {
    if index > newest {
      // The packets between are not there yet.
      let first = max(newest + 1, index - Self.reach + 1)
      var skipped = first
      while skipped < index {
        let (word, bit) = Self.place(of: skipped)
        seen[word] &= ~bit
        skipped += 1
      }
      newest = index
    }
    mark(index)
  }

  @_noAllocation @_noLocks
  private mutating func mark(_ index: Int64) {
    let (word, bit) = Self.place(of: index)
    seen[word] |= bit
  }

  @_noAllocation @_noLocks
  private static func place(of index: Int64) -> (word: Int, bit: UInt64) {
    let place = Int(index & (reach - 1))
    return (place >> 6, UInt64(1) << UInt64(place & 63))
  }
}
