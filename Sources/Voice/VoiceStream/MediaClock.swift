import MediaCore

/// A stream's RTP timestamps as frames at 48 kHz that never wrap.
struct MediaClock: Sendable {
  private let framesPerTick: Int
  private var newest: (raw: RTPTimestamp, frame: Int64)?

  init(framesPerTick: Int) {
    self.framesPerTick = framesPerTick
  }

  /// The next timestamp begins a new count.
  @_noAllocation @_noLocks
  mutating func restart() {
    newest = nil
  }

  /// The frame of a timestamp: nearest to the newest so far.
  @_noAllocation @_noLocks
  mutating func frame(at raw: RTPTimestamp) -> Int64 {
    guard let newest else {
      let first: Int64 = 1 &<< 40
      self.newest = (raw, first)
      return first
    }
    let frame = newest.frame + Int64(raw.ticks(since: newest.raw) * framesPerTick)
    self.newest = (raw, frame)
    return frame
  }

  /// The timestamp of a frame near the newest, nil before the first one.
  func timestamp(of frame: Int64) -> RTPTimestamp? {
    newest.map { $0.raw.advanced(by: Int(clamping: frame - $0.frame) / framesPerTick) }
  }
}
