package import MediaCore
import Playout

/// Packets that one `render` of a stream decoded, with the time they had waited.
package struct DecodeLog: ~Copyable {
  private static var capacity: Int { @_noAllocation @_noLocks get { 16 } }

  /// Number of packets decoded, at most sixteen.
  package private(set) var count = 0
  private var waits = FixedArray<Int64>(repeating: 0, count: 16)
  private var ahead = FixedArray<FrameCount>(repeating: 0, count: 16)
  private var arrivals = FixedArray<Int64>(repeating: 0, count: JitterBuffer.capacity)

  init() {}

  /// Returns the time that the packet at `index` waited for the decoder, in nanoseconds of the
  /// loudspeaker's clock.
  @_noAllocation @_noLocks
  package func wait(_ index: Int) -> Int64 { waits[index] }

  /// Returns the number of frames at 48 kHz queued before the packet at `index` when it was
  /// decoded.
  @_noAllocation @_noLocks
  package func queuedFrames(_ index: Int) -> FrameCount { ahead[index] }

  @_noAllocation @_noLocks
  mutating func noteArrival(slot: Int, at arrival: MonotonicInstant) {
    arrivals[slot] = arrival.nanoseconds
  }

  @_noAllocation @_noLocks
  mutating func begin() { count = 0 }

  @_noAllocation @_noLocks
  mutating func noteDecoding(slot: Int, at now: MonotonicInstant, queuedFrames: FrameCount) {
    guard count < Self.capacity else { return }
    waits[count] = now.nanoseconds - arrivals[slot]
    ahead[count] = queuedFrames
    count += 1
  }
}
