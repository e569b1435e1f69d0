import MediaCore

/// The loudspeaker's recent sound, aligned with the microphone's for the echo canceller.
///
/// Positions are frames at 48 kHz since the start of each side. The offset between the sides is
/// computed from the device's own delays. Every change of it changes the echo path: a shift of more
/// than 10 ms (a fault) moves it at once, and the path is learned anew. Two cards with clocks of
/// their own drift apart, and an echo that seems to precede its sound is never found: the offset
/// follows them, a frame at a time, which the canceller's filter can follow.
struct EchoReference: ~Copyable {
  private static var capacity: Int { 65_536 }
  private static var tolerance: Int64 { 480 }
  /// Smoothed deviation, half a millisecond at 48 kHz, up to which the offset is not moved, since
  /// measurements are noisy.
  private static var steadiness: Float { @_noAllocation @_noLocks get { 24 } }
  /// Share of a new measurement in `lag`.
  private static var share: Float { @_noAllocation @_noLocks get { 1 / 256 } }

  private var played = SampleBuffer(repeating: 0, count: 65_536)
  private var written: Int64 = 0
  private var offset: Int64?
  /// Smoothed deviation of the measured offset from `offset`, in frames.
  private var lag: Float = 0

  init() {}

  @_noAllocation @_noLocks
  mutating func append(_ samples: borrowing SampleBuffer, count: FrameCount) {
    var taken = 0
    while taken < count {
      let place = Int(written % Int64(Self.capacity))
      let part = min(count - taken, Self.capacity - place)
      played.copy(from: samples, at: taken, to: place, count: part)
      taken += part
      written += Int64(part)
    }
  }

  /// Aligns the sides: when `captured` frames had been read, `delay` frames lay between writing to
  /// the loudspeaker and reading from the microphone.
  ///
  /// Returns true if the alignment moved at once, so that the echo path must be learned anew.
  @_noAllocation @_noLocks
  mutating func align(captured: Int64, delay: FrameCount) -> Bool {
    let measured = written - Int64(delay) - captured
    if let offset, abs(measured - offset) <= Self.tolerance {
      lag += (Float(measured - offset) - lag) * Self.share
      follow()
      return false
    }
    offset = measured
    lag = 0
    return true
  }

  @_noAllocation @_noLocks
  private mutating func follow() {
    guard abs(lag) > Self.steadiness, let offset else { return }
    let step: Int64 = lag > 0 ? 1 : -1
    self.offset = offset + step
    lag -= Float(step)
  }

  /// Forgets the alignment, as another device has another one.
  @_noAllocation @_noLocks
  mutating func forgetAlignment() { offset = nil }

  /// Copies the sound that played while the microphone captured `count` frames from `captured` on.
  @_noAllocation @_noLocks
  func copy(from captured: Int64, count: FrameCount, into block: inout SampleBuffer) {
    let first = captured + (offset ?? 0)
    for index in 0..<count {
      let position = first + Int64(index)
      let isThere =
        position >= 0 && position < written && position >= written - Int64(Self.capacity)
      block[index] = isThere ? played[Int(position % Int64(Self.capacity))] : 0
    }
  }
}
