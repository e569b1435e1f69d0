/// A number of sample frames (one sample per channel).
public typealias FrameCount = Int

/// Sample frames per second.
@frozen
public struct SampleRate: Hashable, Sendable, BitwiseCopyable {
  /// The rate of all audio inside the voice path, and of the Opus RTP clock (RFC 7587 section 4.1).
  public static var voice: SampleRate {
    @_noAllocation @_noLocks @inlinable get { SampleRate(hertz: 48_000) }
  }

  /// Frames per second, greater than zero.
  public let hertz: Int

  /// A rate of `hertz` frames per second, which must be positive.
  @_noAllocation @_noLocks @inlinable
  public init(hertz: Int) {
    precondition(hertz > 0, "a sample rate is positive")
    self.hertz = hertz
  }

  /// Returns the duration of `frames` in nanoseconds, rounded towards zero.
  ///
  /// Exact for six years at 48 kHz; the plain product with 10^9 would wrap after 53 hours.
  @_noAllocation @_noLocks @inlinable
  public func nanoseconds(of frames: FrameCount) -> Int64 {
    // One multiplication and one division for the rates in whole kilohertz, which the voice path
    // uses; others are split into seconds and the rest of one.
    guard hertz % 1_000 != 0 else { return Int64(frames) &* 1_000_000 / Int64(hertz / 1_000) }
    let rest = Int64(frames % hertz) &* 1_000_000_000 / Int64(hertz)
    return Int64(frames / hertz) &* 1_000_000_000 &+ rest
  }

  /// Returns the number of whole frames in `nanoseconds`, rounded towards zero.
  @_noAllocation @_noLocks @inlinable
  public func frames(inNanoseconds nanoseconds: Int64) -> FrameCount {
    let seconds = nanoseconds / 1_000_000_000
    let rest = nanoseconds % 1_000_000_000
    return Int(seconds &* Int64(hertz) &+ rest &* Int64(hertz) / 1_000_000_000)
  }
}
