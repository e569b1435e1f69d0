import ALSAAudio
import Foundation
import MediaCore
import RealTime

/// How a headset keeps time: its periods, its rate against the system's clock, and its faults.
struct DeviceTiming: Equatable {
  var captureRate = SampleRate.voice
  var playbackRate = SampleRate.voice
  var capturePeriodMilliseconds = 0.0
  var playbackPeriodMilliseconds = 0.0
  /// By how much the microphone's crystal is too fast, in parts per million.
  var captureDrift: Double?
  /// The same of the loudspeaker's.
  var playbackDrift: Double?
  /// Frames that either side lost.
  var lostFrames = 0
  /// The loudest sample of the microphone, 0 to 1.
  var peak: Float = 0
  /// True if the microphone or the loudspeaker vanished.
  var isGone = false

  /// Opens a headset, plays silence and listens for so long.
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

/// How fast a count of frames grows by the system's clock.
///
/// A look may come late and never early, so of each quarter of a second the least late one counts.
struct ClockComparison: Equatable {
  private let rate: SampleRate
  private var looks: [(at: Double, lateness: Double)] = []

  private static let interval: Int64 = 250_000_000
  /// Shorter ones say little.
  private static let fewestLooks = 8

  init(rate: SampleRate) { self.rate = rate }

  static func == (one: Self, other: Self) -> Bool {
    one.rate == other.rate && one.looks.elementsEqual(other.looks) { $0 == $1 }
  }

  /// Notes that `frames` had passed after so many nanoseconds.
  mutating func note(_ frames: Int64, at nanoseconds: Int64) {
    let lateness = Double(nanoseconds) - Double(frames) * 1e9 / Double(rate.hertz)
    let place = Double(nanoseconds / Self.interval)
    if let last = looks.last, (last.at / Double(Self.interval)).rounded(.down) == place {
      if lateness < last.lateness { looks[looks.count - 1] = (Double(nanoseconds), lateness) }
    } else {
      looks.append((Double(nanoseconds), lateness))
    }
  }

  /// How much too fast the frames come; nil if they were not followed for long.
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
