import MediaCore
import RTP

/// Newest payloads that were sent in succession, kept to be repeated (RFC 2198).
struct PayloadHistory: ~Copyable {
  private static var capacity: Int { @_noAllocation @_noLocks get { LossEstimate.farthest } }
  /// Most bytes of all copies in a packet, so that it stays within what any network carries.
  private static var mostBytes: Int { @_noAllocation @_noLocks get { 700 } }

  private var bytes = ByteBuffer(repeating: 0, count: capacity * RedundantPayload.longestBlock)
  private var lengths = FixedArray<Int>(repeating: 0, count: capacity)
  private var timestamps = FixedArray<RTPTimestamp>(
    repeating: RTPTimestamp(rawValue: 0),
    count: capacity
  )
  private var count = 0
  private var next = 0

  init() {}

  /// Forgets all payloads, as at a gap in the timeline.
  @_noAllocation @_noLocks
  mutating func removeAll() { count = 0 }

  /// Keeps the `length` bytes of `datagram` from `offset` on, which were sent with that timestamp.
  @_noAllocation @_noLocks
  mutating func append(
    _ datagram: borrowing ByteBuffer,
    at offset: Int,
    length: Int,
    timestamp: RTPTimestamp
  ) {
    guard length <= RedundantPayload.longestBlock else { return count = 0 }
    let base = next * RedundantPayload.longestBlock
    bytes.copy(from: datagram, at: offset, to: base, count: length)
    lengths[next] = length
    timestamps[next] = timestamp
    next = (next + 1) % Self.capacity
    count = min(count + 1, Self.capacity)
  }

  /// Writes up to `depth` payloads and the headers of all blocks to `datagram` from `offset` on,
  /// and returns the offset of the packet's own payload.
  ///
  /// The `timestamp` is that of the packet. The oldest payload was sent `reach` packets before it,
  /// the others evenly between.
  @_noAllocation @_noLocks
  func write(
    depth: Int,
    reach: Int,
    payloadType: UInt8,
    timestamp: RTPTimestamp,
    to datagram: inout ByteBuffer,
    at offset: Int
  ) -> Int {
    var taken = 0
    var total = 0
    while taken < depth {
      let back = Self.back(taken + 1, of: depth, reach: reach)
      guard back <= count else { break }
      let slot = slot(back: back)
      let age = Int(timestamp.ticks(since: timestamps[slot]))
      guard age > 0, age <= RedundantPayload.longestOffset, total + lengths[slot] <= Self.mostBytes
      else { break }
      total += lengths[slot]
      taken += 1
    }
    var header = offset
    var body = offset + taken * RedundantPayload.headerLength + RedundantPayload.ownHeaderLength
    while taken > 0 {
      let slot = slot(back: Self.back(taken, of: depth, reach: reach))
      RedundantPayload.writeHeader(
        payloadType: payloadType,
        timestampOffset: Int(timestamp.ticks(since: timestamps[slot])),
        length: lengths[slot],
        to: &datagram,
        at: header
      )
      let base = slot * RedundantPayload.longestBlock
      datagram.copy(from: bytes, at: base, to: body, count: lengths[slot])
      header += RedundantPayload.headerLength
      body += lengths[slot]
      taken -= 1
    }
    RedundantPayload.writeOwnHeader(payloadType: payloadType, to: &datagram, at: header)
    return body
  }

  // How many packets back the copy of this number is, from 1 on.
  @_noAllocation @_noLocks
  private static func back(_ number: Int, of depth: Int, reach: Int) -> Int {
    (number * reach + depth / 2) / depth
  }

  // The newest is one back.
  @_noAllocation @_noLocks
  private func slot(back: Int) -> Int { (next + Self.capacity - back) % Self.capacity }
}
