package import MediaCore

/// Record of the packets received and lost from one source, for loss RLE report blocks (RFC 3611
/// section 4.1).
///
/// It holds the newest 2048 sequence numbers: 5 s of packets of 2.5 ms. Reports leave out the
/// newest eight, which may still be in transit. A packet that arrives after its report stays
/// reported as lost.
package struct LossMap: ~Copyable {
  private static var capacity: Int64 { 2_048 }
  /// Maximum number of packets in one report: 128 bit vectors, the worst case, fit into
  /// `LossRuns.longestBlock` bytes.
  private static var longestReport: Int64 { 1_920 }
  private static var unsettled: Int64 { 8 }

  private var isReceived = FixedArray<Bool>(repeating: false, count: 2_048)
  /// Sequence number after the newest one; `begin` is the first that was not reported.
  private var end: Int64 = 0
  private var begin: Int64 = 0

  /// An empty map.
  package init() {}

  /// Starts over at the packet with the given extended sequence number, which is still to be noted.
  @_noAllocation @_noLocks
  package mutating func begin(at sequence: Int64) {
    begin = sequence
    end = sequence
  }

  /// Notes the arrival of a packet.
  @_noAllocation @_noLocks
  package mutating func note(_ sequence: Int64) {
    guard sequence >= begin else { return }
    if sequence - end > Self.capacity { end = sequence - Self.capacity }
    while end <= sequence {
      isReceived[slot(of: end)] = false
      end += 1
    }
    isReceived[slot(of: sequence)] = true
  }

  @_noAllocation @_noLocks
  private func slot(of sequence: Int64) -> Int { Int(sequence & (Self.capacity - 1)) }

  /// Writes the packets that were not reported yet as a loss RLE block on `ssrc` to `packet` from
  /// `offset` on, and returns its end; nil if there is nothing to report.
  ///
  /// It takes up to `LossRuns.longestBlock` bytes.
  @_noAllocation @_noLocks
  mutating func writeReport(on ssrc: UInt32, to packet: inout ByteBuffer, at offset: Int) -> Int? {
    let end = end - Self.unsettled
    guard end > begin else { return nil }
    let first = max(begin, end - Self.longestReport)
    var next = first
    var chunk = offset + LossRuns.headerLength
    while next < end {
      let length = runLength(from: next, to: end)
      if length >= LossRuns.vectorBits || next + length == end {
        let type: UInt16 = isReceived[slot(of: next)] ? 0x4000 : 0
        BigEndian.write(type | UInt16(truncatingIfNeeded: length), to: &packet, at: chunk)
        next += length
      } else {
        BigEndian.write(0x8000 | vector(from: next, to: end), to: &packet, at: chunk)
        next += LossRuns.vectorBits
      }
      chunk += 2
    }
    if (chunk - offset) % 4 != 0 {
      BigEndian.write(UInt16(0), to: &packet, at: chunk)
      chunk += 2
    }
    packet[offset] = LossRuns.blockType
    packet[offset + 1] = 0
    BigEndian.write(UInt16((chunk - offset) / 4 - 1), to: &packet, at: offset + 2)
    BigEndian.write(ssrc, to: &packet, at: offset + 4)
    BigEndian.write(UInt16(truncatingIfNeeded: first), to: &packet, at: offset + 8)
    BigEndian.write(UInt16(truncatingIfNeeded: end), to: &packet, at: offset + 10)
    begin = end
    return chunk
  }

  @_noAllocation @_noLocks
  private func runLength(from first: Int64, to end: Int64) -> Int64 {
    let isRun = isReceived[slot(of: first)]
    var next = first + 1
    while next < end, isReceived[slot(of: next)] == isRun { next += 1 }
    return next - first
  }

  // Bits beyond the block's end are set to received; its end_seq excludes them.
  @_noAllocation @_noLocks
  private func vector(from first: Int64, to end: Int64) -> UInt16 {
    var bits: UInt16 = 0
    for index in 0..<LossRuns.vectorBits {
      let isSet = first + index >= end || isReceived[slot(of: first + index)]
      bits = bits &<< 1 | (isSet ? 1 : 0)
    }
    return bits
  }
}

/// Runs of received and of lost packets, from the far side's loss RLE block (RFC 3611 section 4.1).
///
/// `next` returns run after run.
package struct LossRuns: Equatable, Sendable, BitwiseCopyable {
  static var blockType: UInt8 { @_noAllocation @_noLocks get { 1 } }
  static var headerLength: Int { @_noAllocation @_noLocks get { 12 } }
  static var vectorBits: Int64 { @_noAllocation @_noLocks get { 15 } }
  /// The most bytes that `LossMap` writes: 128 chunks of 15 numbers and padding.
  static var longestBlock: Int { @_noAllocation @_noLocks get { 12 + 2 * 130 } }

  /// The source that the report is about.
  package var ssrc: UInt32
  /// Number of reported packets that `next` has not returned yet.
  package private(set) var count: Int
  private var offset: Int
  private var end: Int
  /// The latest bit vector chunk; `left` is the number of its bits that are still to be read.
  private var bits: UInt16 = 0
  private var left = 0

  /// The block at `offset` of `datagram`, up to `end`; nil if it is no loss RLE block, or a thinned
  /// one.
  @_noAllocation @_noLocks
  init?(reading datagram: borrowing ByteBuffer, at offset: Int, end: Int) {
    guard end <= datagram.count, end - offset >= Self.headerLength,
      datagram[offset] == Self.blockType, datagram[offset + 1] & 0x0F == 0
    else { return nil }
    ssrc = BigEndian.readUInt32(datagram, at: offset + 4)
    let first = BigEndian.readUInt16(datagram, at: offset + 8)
    count = Int(BigEndian.readUInt16(datagram, at: offset + 10) &- first)
    self.offset = offset + Self.headerLength
    self.end = end
  }

  /// Returns the next run in `datagram`, which must be the one passed to the initialiser; nil at
  /// the end.
  ///
  /// All `count` packets of a run were received, or all were lost.
  @_noAllocation @_noLocks
  package mutating func next(
    in datagram: borrowing ByteBuffer
  ) -> (isReceived: Bool, count: Int)? {
    while count > 0 {
      if left > 0 {
        left -= 1
        count -= 1
        return (bits &>> UInt16(truncatingIfNeeded: left) & 1 == 1, 1)
      }
      guard offset + 2 <= end, end <= datagram.count else { return nil }
      let chunk = BigEndian.readUInt16(datagram, at: offset)
      offset += 2
      if chunk & 0x8000 != 0 {
        bits = chunk
        left = Int(Self.vectorBits)
        continue
      }
      let length = min(Int(chunk & 0x3FFF), count)
      // A chunk of zeros only fills up.
      guard length > 0 else { continue }
      count -= length
      return (chunk & 0x4000 != 0, length)
    }
    return nil
  }
}
