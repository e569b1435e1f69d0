import MediaTime

/// What the loudspeaker sounded, findable by what the microphone heard at the same time.
///
/// Positions are frames at 48 kHz since the start of each side. The offset between the sides is
/// taken from the device's own delays and held still, since every change of it is a change of the
/// echo path; only a shift beyond 10 ms (a fault, another fill) moves it.
struct EchoReference: ~Copyable {
  private static var capacity: Int { 65_536 }
  private static var tolerance: Int64 { 480 }

  private var played = SampleBuffer(repeating: 0, count: 65_536)
  private var written: Int64 = 0
  private var offset: Int64?

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

  /// Notes that while `captured` frames had been read, `delay` frames lay between writing to the
  /// loudspeaker and reading from the microphone; true if the alignment moved.
  @_noAllocation @_noLocks
  mutating func align(captured: Int64, delay: FrameCount) -> Bool {
    let measured = written - Int64(delay) - captured
    if let offset, abs(measured - offset) <= Self.tolerance { return false }
    offset = measured
    return true
  }

  /// Forgets the alignment: another device has another one.
  @_noAllocation @_noLocks
  mutating func forgetAlignment() { offset = nil }

  /// Copies what sounded while the microphone heard the `count` frames from `captured` on.
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
