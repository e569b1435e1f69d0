public import MediaTime

/// Decoded speech on its way to the loudspeaker: a queue that can be read at a slightly different
/// rate and shortened or lengthened by whole pitch periods.
///
/// Mono at 48 kHz.
///
/// Append through `append`, play through `read`. A ratio other than 1 interpolates between samples
/// (third order), which costs two frames of look-ahead and steers clock drift away.
public struct SpeechQueue: ~Copyable {
  /// The most that can be queued: two packets of 120 ms and some more.
  public static var capacity: FrameCount { @_noAllocation @_noLocks get { 16_384 } }
  private static var storage: Int { 32_768 }

  var samples = FixedArray<Float>(repeating: 0, count: 32_768)
  var start = 1
  var end = 1
  private var fraction = 0.0

  /// An empty queue.
  public init() {}

  /// Frames that `read` can deliver now.
  public var count: FrameCount {
    @_noAllocation @_noLocks get { max(0, end - start - 2) }
  }

  /// Appends the first `count` frames of `block`, as far as there is room.
  @_noAllocation @_noLocks
  public mutating func append(_ block: borrowing SampleBuffer, count: FrameCount) {
    makeRoom(count)
    let frames = min(count, Self.storage - end)
    for index in 0..<frames { samples[end + index] = block[index] }
    end += frames
  }

  /// Adds frames to `range` of `output` at `ratio` input frames per output frame.
  ///
  /// Returns how many there were; the rest of `output` is left as it was.
  @_noAllocation @_noLocks
  public mutating func read(
    addingTo output: inout SampleBuffer,
    in range: Range<Int>,
    ratio: Double
  ) -> FrameCount {
    var produced = 0
    while produced < range.upperBound - range.lowerBound, start + 2 < end {
      output[range.lowerBound + produced] += interpolated()
      produced += 1
      fraction += ratio
      while fraction >= 1 {
        fraction -= 1
        start += 1
      }
    }
    return produced
  }

  // Catmull-Rom through four samples; exact where the fraction is zero.
  @_noAllocation @_noLocks
  private func interpolated() -> Float {
    let here = samples[start]
    guard fraction != 0 else { return here }
    let position = Float(fraction)
    let before = samples[start - 1]
    let after = samples[start + 1]
    let beyond = samples[start + 2]
    let slope = 0.5 * (after - before)
    let curve = before - 2.5 * here + 2 * after - 0.5 * beyond
    let twist = 0.5 * (beyond - before) + 1.5 * (here - after)
    return ((twist * position + curve) * position + slope) * position + here
  }

  @_noAllocation @_noLocks
  private mutating func makeRoom(_ frames: Int) {
    guard end + frames > Self.storage else { return }
    samples.move(from: start - 1, to: 0, count: end - start + 1)
    end -= start - 1
    start = 1
  }
}
