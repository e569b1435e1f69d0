import CRealTime
import MediaTime
import Playout
import RealTime

/// For how long each side of a device has not moved, in nanoseconds.
struct DeviceStillness: Sendable {
  /// After so long a sound server has gone without a word, and a card's driver hangs.
  static let limit: Int64 = 1_000_000_000
  /// A turn counts for so long at most: a program that was stopped learns nothing of its devices meanwhile.
  static let longestTurn: Int64 = 50_000_000

  var capture: Int64 = 0
  var playback: Int64 = 0
  var looked: MonotonicInstant?
}

/// Devices that go, stand still and are replaced while the voice goes on.
extension VoiceLoop where Device: ~Copyable, Transport: ~Copyable {
  /// Frames at 48 kHz that the loudspeaker takes at a time.
  var pullFrames: FrameCount {
    SampleRate.voice.frames(
      inNanoseconds: device.playbackRate.nanoseconds(of: device.playbackPeriod)
    )
  }

  /// Notes that nothing more will come from these sides.
  func noteGone(_ sides: DeviceSides) {
    gone.formUnion(sides)
    signals.noteGone(sides)
    // Its descriptor would end every wait at once.
    waitedCount = 1 + device.pollDescriptors(&descriptors, from: 1)
  }

  /// Raises the alarm about a side that has stood still for long, and takes it back if it moves again.
  func watch(at now: MonotonicInstant) {
    guard let looked = stillness.looked else { return stillness.looked = now }
    let passed = min(max(0, now.nanoseconds(since: looked)), DeviceStillness.longestTurn)
    stillness.looked = now
    stillness.capture = judge(.capture, stillFor: stillness.capture + passed, after: passed)
    stillness.playback = judge(.playback, stillFor: stillness.playback + passed, after: passed)
  }

  private func judge(_ side: DeviceSides, stillFor still: Int64, after passed: Int64) -> Int64 {
    guard !gone.contains(side) else { return still }
    let period =
      side == .capture
      ? device.captureRate.nanoseconds(of: device.capturePeriod)
      : device.playbackRate.nanoseconds(of: device.playbackPeriod)
    let limit = max(DeviceStillness.limit, 4 * period)
    if still >= limit {
      signals.noteGone(side)
    } else if still <= passed {
      signals.noteBack(side)
    }
    return min(still, limit)
  }

  /// Goes on with the sides that `replacement` brings, and leaves it those that were here.
  func replace(_ replacement: DeviceReplacement<Device>) {
    let sides = replacement.sides
    let oldCaptureRate = device.captureRate
    device.exchange(sides, with: &replacement.device)
    if sides.contains(.capture) {
      let gap = max(0, time.now.nanoseconds(since: lastRead))
      skipCapture(oldCaptureRate.frames(inNanoseconds: gap))
      changeMicrophone(replacement)
    }
    if sides.contains(.playback) { changeLoudspeaker(replacement) }
    reference.forgetAlignment()
    gone.subtract(sides)
    signals.noteBack(sides)
    waitedCount = 1 + device.pollDescriptors(&descriptors, from: 1)
    statistics.deviceChanges += 1
    replacement.done.signal()
  }

  private func changeMicrophone(_ replacement: DeviceReplacement<Device>) {
    capture.changeDevice(rate: device.captureRate, &replacement.captureResampler)
    let period = device.captureRate.nanoseconds(of: device.capturePeriod)
    captureClock.changeDevice(
      period: SampleRate.voice.frames(inNanoseconds: period),
      rate: .voice
    )
    statistics.capturePeriodNanoseconds = period
    stillness.capture = 0
    lastRead = time.now
    discardStaleCapture()
  }

  private func changeLoudspeaker(_ replacement: DeviceReplacement<Device>) {
    playback.changeDevice(rate: device.playbackRate, &replacement.playbackResampler)
    fill = replacement.fill
    writtenFrames = 0
    playbackClock.changeDevice(period: device.playbackPeriod, rate: device.playbackRate)
    stillness.playback = 0
    waits = Waits(device)
    forEachStream { box, _ in box.stream.setPullFrames(pullFrames) }
    capture.resetEchoPath()
  }
}
