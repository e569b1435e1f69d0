import ALSAAudio
import Foundation
import MediaCore
import RealTime

/// Timing of a headset: its periods, its rate against the system's clock, and its faults.
struct DeviceTiming: Equatable {
  var captureRate = SampleRate.voice
  var playbackRate = SampleRate.voice
  var capturePeriodMilliseconds = 0.0
  var playbackPeriodMilliseconds = 0.0
  /// Error of the microphone's crystal in parts per million, positive if it is fast; nil if it was
  /// measured too briefly.
  var captureDrift: Double?
  /// Error of the loudspeaker's crystal, likewise.
  var playbackDrift: Double?
  /// Frames lost by both sides together.
  var lostFrames = 0
  /// Highest absolute sample of the microphone, 0 to 1.
  var peak: Float = 0
  /// True if the microphone or the loudspeaker vanished.
  var isGone = false

  /// Opens a headset, plays silence and listens for `seconds`, and returns its timing.
  ///
  /// - Throws: an `AudioDeviceError` if it cannot be opened or started.
  static func measure(
    capture: DeviceName,
    playback: DeviceName,
    wishes: DeviceWishes,
    seconds: Double
  ) throws(AudioDeviceError) -> DeviceTiming {
    var headset = try Headset(capture: capture, playback: playback, wishes: wishes)
    var timing = DeviceTiming()
    timing.captureRate = headset.captureRate
    timing.playbackRate = headset.playbackRate
    timing.capturePeriodMilliseconds =
      Double(headset.captureRate.nanoseconds(of: headset.capturePeriod)) / 1e6
    timing.playbackPeriodMilliseconds =
      Double(headset.playbackRate.nanoseconds(of: headset.playbackPeriod)) / 1e6
    // This thread is an ordinary one, which may be late.
    let fill = headset.playbackCapacity / 2
    try headset.start(fill: fill)
    timing.follow(&headset, fill: fill, seconds: seconds)
    return timing
  }

  private mutating func follow(
    _ headset: inout Headset,
    fill: FrameCount,
    seconds: Double
  ) {
    var block = SampleBuffer(repeating: 0, count: 4_096)
    let silence = SampleBuffer(repeating: 0, count: 4_096)
    var microphone = ClockComparison(rate: captureRate)
    var loudspeaker = ClockComparison(rate: playbackRate)
    var (read, written): (Int64, Int64) = (0, Int64(fill))
    let begin = MonotonicClock.now()
    let end = begin.advanced(byNanoseconds: Int64(seconds * 1e9))
    while MonotonicClock.now() < end {
      usleep(500)
      let captured = headset.read(into: &block)
      let missing = max(0, min(silence.count, fill - headset.queuedFrames()))
      let played = headset.write(silence, count: missing)
      guard !captured.isGone, !played.isGone else { return isGone = true }
      lostFrames += captured.lost + played.lost
      if captured.lost > 0 { microphone = ClockComparison(rate: captureRate) }
      if played.lost > 0 { loudspeaker = ClockComparison(rate: playbackRate) }
      for index in 0..<captured.frames { peak = max(peak, abs(block[index])) }
      read += Int64(captured.frames)
      written += Int64(played.frames)
      let now = MonotonicClock.now().nanoseconds(since: begin)
      microphone.note(read + Int64(headset.pendingFrames()), at: now)
      loudspeaker.note(written - Int64(headset.queuedFrames()), at: now)
    }
    captureDrift = microphone.partsPerMillion
    playbackDrift = loudspeaker.partsPerMillion
  }
}

/// Rate of a growing count of frames against the system's clock.
///
/// A reading may come late and never early, so the least late one of each quarter of a second
/// counts.
struct ClockComparison: Equatable {
  private let rate: SampleRate
  private var looks: [(at: Double, lateness: Double)] = []

  private static let interval: Int64 = 250_000_000
  /// Fewest quarters of a second from which a rate is computed.
  private static let fewestLooks = 8

  init(rate: SampleRate) { self.rate = rate }

  static func == (one: Self, other: Self) -> Bool {
    one.rate == other.rate && one.looks.elementsEqual(other.looks) { $0 == $1 }
  }

  /// Notes that `frames` had passed `nanoseconds` after the start.
  mutating func note(_ frames: Int64, at nanoseconds: Int64) {
    let lateness = Double(nanoseconds) - Double(frames) * 1e9 / Double(rate.hertz)
    let place = Double(nanoseconds / Self.interval)
    if let last = looks.last, (last.at / Double(Self.interval)).rounded(.down) == place {
      if lateness < last.lateness { looks[looks.count - 1] = (Double(nanoseconds), lateness) }
    } else {
      looks.append((Double(nanoseconds), lateness))
    }
  }

  /// Error of the rate of frames in parts per million, positive if it is fast; nil if it was
  /// measured too briefly.
  var partsPerMillion: Double? {
    // The last quarter may have had few looks.
    let looks = looks.dropLast()
    guard looks.count >= Self.fewestLooks else { return nil }
    let count = Double(looks.count)
    let middle = looks.reduce(0) { $0 + $1.at } / count
    let mean = looks.reduce(0) { $0 + $1.lateness } / count
    var (spread, common) = (0.0, 0.0)
    for look in looks {
      spread += (look.at - middle) * (look.at - middle)
      common += (look.at - middle) * (look.lateness - mean)
    }
    return spread > 0 ? -common / spread * 1e6 : nil
  }
}
