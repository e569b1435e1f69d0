package import MediaCore

/// Decoded speech on its way to the loudspeaker: a queue that can be read at a slightly different
/// rate and shortened or lengthened by whole pitch periods.
///
/// Mono at 48 kHz.
///
/// Append through `append`, play through `read`. A ratio other than 1, which steers the delay,
/// interpolates between samples (fourth order); the newest three frames are kept for that.
package struct OutputBuffer: ~Copyable {
  /// Number of frames that can always be queued: more than two packets of 120 ms.
  package static var capacity: FrameCount { @_noAllocation @_noLocks get { 16_384 } }
  private static var storage: Int { 32_768 }
  /// Number of played frames after which their memory is reused.
  private static var heardFrames: Int { @_noAllocation @_noLocks get { 8_192 } }

  let mechanisms: PlayoutMechanisms
  var samples = FixedArray<Float>(repeating: 0, count: 32_768)
  /// Sound that `repair` repeats: a pitch period, or a mirror image.
  var pattern = FixedArray<Float>(repeating: 0, count: 960)
  /// Index of the next frame to read; interpolation uses two samples before it and three after it.
  var start = 2
  var end = 2
  private var fraction = 0.0

  /// An empty queue.
  package init(_ mechanisms: PlayoutMechanisms = PlayoutMechanisms()) {
    self.mechanisms = mechanisms
  }

  /// Frames that `read` can deliver now.
  package var count: FrameCount {
    @_noAllocation @_noLocks get { max(0, end - start - 3) }
  }

  /// Index from which on no sample has been played, not even in part.
  var firstUnplayed: Int { @_noAllocation @_noLocks get { start + 4 } }

  /// Appends the first `count` frames of `block`, as far as there is room.
  @_noAllocation @_noLocks
  package mutating func append(_ block: borrowing SampleBuffer, count: FrameCount) {
    makeRoom(count)
    let frames = min(count, Self.storage - end)
    samples.copy(from: block, to: end, count: frames)
    end += frames
  }

  /// Removes the newest `count` unplayed frames, and copies the first of them to `block`, as many
  /// as it holds.
  @_noAllocation @_noLocks
  package mutating func takeBack(_ count: FrameCount, into block: inout SampleBuffer) {
    let frames = max(0, min(count, self.count))
    end -= frames
    for index in 0..<min(frames, block.count) { block[index] = samples[end + index] }
  }

  /// Adds frames to `range` of `output` at `ratio` input frames per output frame.
  ///
  /// Returns the number of frames added; the rest of `output` is left as it was.
  @_noAllocation @_noLocks
  package mutating func read(
    addingTo output: inout SampleBuffer,
    in range: Range<Int>,
    ratio: Double
  ) -> FrameCount {
    precondition(range.lowerBound >= 0 && range.upperBound <= output.count, "range out of bounds")
    let wanted = range.upperBound - range.lowerBound
    let step = Float(ratio - 1)
    var produced = 0
    while produced < wanted, start + 3 < end {
      // Each frame is one further on, until the fraction leaves its place.
      let run = min(wanted - produced, min(end - 3 - start, framesInPlace(by: ratio - 1)))
      interpolate(run, by: step, addingTo: &output, at: range.lowerBound + produced)
      produced += run
      start += run
      fraction += Double(run) * (ratio - 1)
      if fraction >= 1 {
        fraction -= 1
        start += 1
      } else if fraction < 0 {
        fraction += 1
        start -= 1
      }
    }
    return produced
  }

  // How many frames can be read before the fraction is 1 or more, or less than 0; at least one.
  @_noAllocation @_noLocks
  private func framesInPlace(by step: Double) -> FrameCount {
    if step > 0 { return Int(min(1e6, (1 - fraction) / step)) + 1 }
    if step < 0 { return Int(min(1e6, fraction / -step)) + 1 }
    return 1_000_000
  }

  @_noAllocation @_noLocks
  private func interpolate(
    _ frames: FrameCount,
    by step: Float,
    addingTo output: inout SampleBuffer,
    at place: Int
  ) {
    // The bounds are checked once for all samples: 1 < start, start + frames + 3 <= end <= storage.
    precondition(start > 1 && start + frames + 2 < Self.storage, "range out of bounds")
    precondition(place >= 0 && place + frames <= output.count, "range out of bounds")
    let input = unsafe samples.address + start
    let target = unsafe output.address + place
    let first = Float(fraction)
    var index = 0
    var phase: Int32 = 0
    while index < frames {
      let position = first + Float(phase) * step
      unsafe target[index] += Self.interpolated(input + index, at: position)
      index &+= 1
      phase &+= 1
    }
  }

  // Bessel's formula (central differences) up to the fourth, of the samples from the second before
  // to the third after; exact at position 0.
  @_noAllocation @_noLocks @inline(__always)
  private static func interpolated(_ samples: UnsafePointer<Float>, at position: Float) -> Float {
    let step = unsafe samples[1] - samples[0]
    let inner = unsafe samples[0] + samples[1]
    let middle = unsafe samples[-1] + samples[2]
    let outer = unsafe samples[-2] + samples[3]
    let bend = middle - inner
    let twist = unsafe samples[2] - samples[-1] - 3 * step
    let wave = outer - middle - 2 * bend
    let square = position * (position - 1)
    let curve =
      (position * (1 / 6) - 1 / 12) * twist + ((square - 2) * (1 / 48) * wave + 0.25 * bend)
    return unsafe samples[0] + (position * step + square * curve)
  }

  @_noAllocation @_noLocks
  private mutating func makeRoom(_ frames: Int) {
    guard start > Self.heardFrames || end + frames > Self.storage else { return }
    samples.move(from: start - 2, to: 0, count: end - start + 2)
    end -= start - 2
    start = 2
  }
}
