import MediaCore
import Playout

/// State of one loss and its repair: the frames concealed for it, those decoded after it, and the
/// joint between them.
///
/// | State | `concealed` | `decodedAfter` |
/// |---|---|---|
/// | no loss | 0 | 0 |
/// | a packet is missing | frames at the end of the output queue | 0 |
/// | packets after it are decoded | the frames before those | frames at the end of the queue |
///
/// In the last state the loss is repaired from both sides, and forgotten. Another source begins as
/// after a loss that has faded. The receiver decodes and plays, and reports here.
struct LossRepair: ~Copyable {
  /// Length of the fade from the sound played in a packet's place to the packet: 2.5 ms at 48 kHz.
  static var spliceFrames: FrameCount { @_noAllocation @_noLocks get { 120 } }

  /// Frames that were concealed for the loss, or half a second after `restart`.
  private(set) var concealed: FrameCount = 0
  /// Frames that were decoded after the loss.
  private(set) var decodedAfter: FrameCount = 0
  /// Number of the first of these that depend on the concealment, as the decoder has not converged.
  private(set) var converging: FrameCount = 0
  /// Frames of a packet that could not be decoded, which the decoder has yet to pass over.
  private var undecodable: FrameCount = 0
  /// Sound that continues what was played, for the next packet to fade in over.
  private var continuation = SampleBuffer(repeating: 0, count: Self.spliceFrames)
  private var continuationFrames: FrameCount = 0

  /// True while there is concealment that has not been repaired.
  var isOpen: Bool { @_noAllocation @_noLocks get { concealed > 0 } }

  /// True if the concealment is so long that it has faded, and the stream starts afresh.
  var isFaded: Bool { @_noAllocation @_noLocks get { concealed >= JitterBuffer.fadedFrames } }

  /// Forgets the loss: it was repaired, or background noise has taken its place.
  @_noAllocation @_noLocks
  mutating func close() { (concealed, decodedAfter) = (0, 0) }

  /// Forgets the loss and the former source's sound, as another source has taken over.
  @_noAllocation @_noLocks
  mutating func restart() {
    (concealed, decodedAfter) = (JitterBuffer.fadedFrames, 0)
    continuationFrames = 0
    undecodable = 0
  }

  // MARK: Events

  /// Notes that `frames` were concealed and appended to the output.
  @_noAllocation @_noLocks
  mutating func noteConcealed(_ frames: FrameCount) {
    continuationFrames = 0
    if decodedAfter == 0 { concealed += frames } else { decodedAfter += frames }
  }

  /// Notes that `frames` were decoded and appended to the output.
  @_noAllocation @_noLocks
  mutating func noteDecoded(_ frames: FrameCount) {
    if isOpen { decodedAfter += frames }
  }

  /// Notes that the first `frames` after the loss depend on the concealment.
  @_noAllocation @_noLocks
  mutating func noteConverging(_ frames: FrameCount) {
    if decodedAfter == 0 { converging = frames }
  }

  /// Notes that a packet of `frames` could not be decoded.
  @_noAllocation @_noLocks
  mutating func noteUndecodable(_ frames: FrameCount) { undecodable = frames }

  /// Returns, and resets, the number of frames that the decoder has to pass over beside those that
  /// the network lost.
  @_noAllocation @_noLocks
  mutating func takeUndecodable() -> FrameCount {
    defer { undecodable = 0 }
    return undecodable
  }

  // MARK: Joints

  /// Removes the last `frames` of the concealment from the queue, since their packet has arrived
  /// after all; it fades in over them.
  @_noAllocation @_noLocks
  mutating func takeBack(_ frames: FrameCount, from queue: inout OutputBuffer) {
    queue.takeBack(frames, into: &continuation)
    concealed -= frames
    continuationFrames = Self.spliceFrames
  }

  /// True if there is sound for the next packet to fade in over.
  var hasContinuation: Bool { @_noAllocation @_noLocks get { continuationFrames > 0 } }

  /// Keeps the first `frames` of `sound` for the next packet to fade in over.
  @_noAllocation @_noLocks
  mutating func setContinuation(_ sound: borrowing SampleBuffer, count frames: FrameCount) {
    continuationFrames = min(frames, Self.spliceFrames)
    continuation.copy(from: sound, count: continuationFrames)
  }

  /// Removes the sound for the next packet to fade in over.
  @_noAllocation @_noLocks
  mutating func dropContinuation() { continuationFrames = 0 }

  /// Fades the first `frames` of `sound` in over the continuation, and returns the length of the
  /// fade.
  @_noAllocation @_noLocks
  mutating func fadeIn(_ sound: inout SampleBuffer, count frames: FrameCount) -> FrameCount {
    let overlap = min(continuationFrames, frames)
    for index in 0..<overlap {
      let weight = Float(index) / Float(overlap)
      sound[index] = continuation[index] + (sound[index] - continuation[index]) * weight
    }
    continuationFrames = 0
    return overlap
  }
}
