import MediaCore

/// Description of a stored packet, whose payload lies in the owner's slot of the same number.
struct StoredPacket: BitwiseCopyable, Sendable {
  var sequence: Int64
  var mediaFrame: Int64
  var frames: FrameCount
  var isSilence: Bool
  /// Length of the in-band FEC in frames, which ends at `mediaFrame`; 0 without.
  var redundantFrames: FrameCount
  /// True if it is a copy that a later packet carried.
  var isCopy: Bool

  @_noAllocation @_noLocks
  init(
    sequence: Int64,
    mediaFrame: Int64,
    frames: FrameCount,
    isSilence: Bool,
    redundantFrames: FrameCount,
    isCopy: Bool = false
  ) {
    self.sequence = sequence
    self.mediaFrame = mediaFrame
    self.frames = frames
    self.isSilence = isSilence
    self.redundantFrames = redundantFrames
    self.isCopy = isCopy
  }
}

/// Packets waiting to be played, ordered by extended sequence number.
struct PacketStore: ~Copyable {
  private static var vacant: StoredPacket {
    StoredPacket(sequence: -1, mediaFrame: 0, frames: 0, isSilence: false, redundantFrames: 0)
  }

  let capacity: Int
  private(set) var count = 0
  private var packets: FixedArray<StoredPacket>
  private var newest: Int64 = -1
  /// Lower bound of the stored sequence numbers.
  private var oldest: Int64 = .max

  /// Creates a store for the packets of `capacity` consecutive numbers, a power of two.
  init(capacity: Int) {
    precondition(capacity > 0 && capacity & (capacity - 1) == 0, "a power of two")
    self.capacity = capacity
    packets = FixedArray(
      repeating: StoredPacket(
        sequence: -1,
        mediaFrame: 0,
        frames: 0,
        isSilence: false,
        redundantFrames: 0
      ),
      count: capacity
    )
  }

  @_noAllocation @_noLocks
  func slot(of sequence: Int64) -> Int {
    Int(truncatingIfNeeded: sequence) & (capacity - 1)
  }

  @_noAllocation @_noLocks
  func contains(_ sequence: Int64) -> Bool {
    packets[slot(of: sequence)].sequence == sequence
  }

  /// Stores a packet and returns its slot, displacing the packet a whole capacity behind.
  @_noAllocation @_noLocks
  mutating func insert(_ packet: StoredPacket) -> Int {
    let slot = slot(of: packet.sequence)
    if packets[slot].sequence < 0 { count += 1 }
    packets[slot] = packet
    newest = max(newest, packet.sequence)
    oldest = min(oldest, packet.sequence)
    return slot
  }

  /// The earliest packet at or after `sequence`.
  @_noAllocation @_noLocks
  func first(from sequence: Int64) -> StoredPacket? {
    guard count > 0 else { return nil }
    var candidate = max(max(sequence, oldest), newest - Int64(capacity) + 1)
    while candidate <= newest {
      if contains(candidate) { return packets[slot(of: candidate)] }
      candidate += 1
    }
    return nil
  }

  /// The media time of the newest packet; 0 without one.
  var newestFrame: Int64 {
    @_noAllocation @_noLocks get { newest < 0 ? 0 : packets[slot(of: newest)].mediaFrame }
  }

  @_noAllocation @_noLocks
  mutating func remove(_ sequence: Int64) {
    let slot = slot(of: sequence)
    guard packets[slot].sequence == sequence else { return }
    packets[slot] = Self.vacant
    count -= 1
  }

  /// Removes every packet before `sequence`.
  @_noAllocation @_noLocks
  mutating func removeAll(before sequence: Int64) {
    // Nothing older than the oldest or a capacity behind the newest is here.
    var candidate = max(oldest, newest - Int64(capacity) + 1)
    let end = min(sequence, newest + 1)
    while count > 0, candidate < end {
      remove(candidate)
      candidate += 1
    }
    oldest = max(oldest, sequence)
  }

  @_noAllocation @_noLocks
  mutating func removeAll() {
    for slot in 0..<capacity { packets[slot] = Self.vacant }
    count = 0
    newest = -1
    oldest = .max
  }
}
