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
    samples.copy(from: block, to: end, count: frames)
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
    precondition(range.lowerBound >= 0 && range.upperBound <= output.count, "range out of bounds")
    let wanted = range.upperBound - range.lowerBound
    // Here the bounds are checked once for all samples: 0 < start, start + 2 < end <= storage.
    let input = unsafe samples.address
    let target = unsafe output.address + range.lowerBound
    var place = start
    var position = fraction
    var produced = 0
    while produced < wanted, place + 2 < end {
      unsafe target[produced] += Self.interpolated(input + place, at: Float(position))
      produced += 1
      position += ratio
      while position >= 1 {
        position -= 1
        place += 1
      }
    }
    start = place
    fraction = position
    return produced
  }

  // Catmull-Rom through the samples from the one before to the second after; exact at position 0.
  @_noAllocation @_noLocks @inline(__always)
  private static func interpolated(_ samples: UnsafePointer<Float>, at position: Float) -> Float {
    let here = unsafe samples[0]
    let before = unsafe samples[-1]
    let after = unsafe samples[1]
    let beyond = unsafe samples[2]
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
