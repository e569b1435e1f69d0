import MediaCore

/// Conversion of a stream's RTP timestamps into frames at 48 kHz that never wrap.
struct MediaClock: Sendable {
  /// Valid frames: from 8 months before the first to 2 years after it, so that no sum of them
  /// overflows.
  private static var known: Range<Int64> { @_noAllocation @_noLocks get { 1 &<< 33..<1 &<< 42 } }
  private static var first: Int64 { @_noAllocation @_noLocks get { 1 &<< 40 } }

  private let framesPerTick: Int
  private var newest: (raw: RTPTimestamp, frame: Int64)?

  init(framesPerTick: Int) {
    self.framesPerTick = framesPerTick
  }

  /// Makes the next timestamp begin a new count.
  @_noAllocation @_noLocks
  mutating func restart() {
    newest = nil
  }

  /// Returns the frame of a timestamp, which is taken to be less than half a wrap from the last
  /// one.
  @_noAllocation @_noLocks
  mutating func frame(at raw: RTPTimestamp) -> Int64 {
    guard let newest else {
      self.newest = (raw, Self.first)
      return Self.first
    }
    let next = newest.frame + Int64(raw.ticks(since: newest.raw) * framesPerTick)
    // A far side that leaps again and again begins a new count, which is a jump like the others.
    let frame = Self.known.contains(next) ? next : Self.first
    self.newest = (raw, frame)
    return frame
  }

  /// Returns the timestamp of a frame near the newest, nil before the first one.
  func timestamp(of frame: Int64) -> RTPTimestamp? {
    newest.map { $0.raw.advanced(by: Int(clamping: frame - $0.frame) / framesPerTick) }
  }
}
