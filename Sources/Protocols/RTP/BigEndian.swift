import MediaCore

/// Integers in network byte order.
///
/// The caller has checked that the bytes are there.
enum BigEndian {
  @_noAllocation @_noLocks
  static func readUInt16(_ bytes: borrowing ByteBuffer, at offset: Int) -> UInt16 {
    UInt16(bytes[offset]) &<< 8 | UInt16(bytes[offset + 1])
  }

  @_noAllocation @_noLocks
  static func readUInt32(_ bytes: borrowing ByteBuffer, at offset: Int) -> UInt32 {
    UInt32(readUInt16(bytes, at: offset)) &<< 16 | UInt32(readUInt16(bytes, at: offset + 2))
  }

  @_noAllocation @_noLocks
  static func write(_ value: UInt16, to bytes: inout ByteBuffer, at offset: Int) {
    bytes[offset] = UInt8(truncatingIfNeeded: value &>> 8)
    bytes[offset + 1] = UInt8(truncatingIfNeeded: value)
  }

  @_noAllocation @_noLocks
  static func write(_ value: UInt32, to bytes: inout ByteBuffer, at offset: Int) {
    write(UInt16(truncatingIfNeeded: value &>> 16), to: &bytes, at: offset)
    write(UInt16(truncatingIfNeeded: value), to: &bytes, at: offset + 2)
  }
}
