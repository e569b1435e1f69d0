import MediaCore

/// Queue for the sound of one conference member, from the loudspeaker's clock to the microphone's.
///
/// The sound is rendered by the first clock and sent to the other members by the second. The two
/// may differ: the queue is kept between 5 and 40 ms by dropping any excess and by pausing when it
/// runs short.
struct ConferenceBridge: ~Copyable {
  /// Greatest number of frames taken at once, at 48 kHz.
  static var capacity: FrameCount { @_noAllocation @_noLocks get { 4_096 } }
  private static var primeFrames: FrameCount { @_noAllocation @_noLocks get { 240 } }
  private static var mostFrames: FrameCount { @_noAllocation @_noLocks get { 1_920 } }

  /// Frames that the last `take` took.
  private(set) var taken = SampleBuffer(repeating: 0, count: 4_096)
  private var queue = SampleBuffer(repeating: 0, count: 8_192)
  private var count = 0
  private var isPriming = true

  /// Appends the first `frames` of `samples`.
  @_noAllocation @_noLocks
  mutating func append(_ samples: borrowing SampleBuffer, count frames: FrameCount) {
    let added = min(frames, queue.count - count)
    queue.copy(from: samples, to: count, count: added)
    count += added
    if count > Self.mostFrames + frames { drop(count - Self.primeFrames - frames) }
  }

  /// Moves `frames` to `taken`, or silence if fewer are queued.
  @_noAllocation @_noLocks
  mutating func take(_ frames: FrameCount) {
    let wanted = min(frames, Self.capacity)
    if isPriming, count >= wanted + Self.primeFrames { isPriming = false }
    guard !isPriming, count >= wanted else {
      isPriming = true
      taken.fill(0, count: wanted)
      return
    }
    taken.copy(from: queue, count: wanted)
    drop(wanted)
  }

  @_noAllocation @_noLocks
  private mutating func drop(_ frames: FrameCount) {
    queue.move(from: frames, to: 0, count: count - frames)
    count -= frames
  }
}
