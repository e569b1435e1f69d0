import MediaCore
import DeviceTiming
import RealTime

/// Loss, stall and replacement of devices while the voice continues.
extension VoiceLoop where Device: ~Copyable, Transport: ~Copyable {
  /// Notes that `sides` of the device are gone, and will move no more frames.
  func noteGone(_ sides: StreamDirections) {
    gone.formUnion(sides)
    signals.noteGone(sides)
    if sides.contains(.playback) { streams.forEach { $0.stream.noteInterruption() } }
    // Its descriptor would end every wait at once.
    wait.follow(&device)
  }

  /// Raises the alarm about a side that has stalled for long, and clears it if it moves again.
  func watch(at now: MonotonicInstant) {
    let passed = now.nanoseconds(since: lastTurn)
    lastTurn = now
    if !gone.contains(.capture) { note(.capture, microphone.stillness.pass(nanoseconds: passed)) }
    if !gone.contains(.playback) {
      note(.playback, loudspeaker.stillness.pass(nanoseconds: passed))
    }
  }

  private func note(_ side: StreamDirections, _ isAlarm: Bool?) {
    guard let isAlarm else { return }
    if isAlarm { signals.noteGone(side) } else { signals.noteBack(side) }
  }

  /// Exchanges the sides of the device for those of `replacement`, which then holds the old ones.
  func replace(_ replacement: DeviceReplacement<Device>) {
    let sides = replacement.sides
    let oldCaptureRate = device.captureRate
    let oldPeriod = device.playbackRate.nanoseconds(of: device.playbackPeriod)
    device.exchange(sides, with: &replacement.device)
    if sides.contains(.capture) {
      let gap = max(0, time.now.nanoseconds(since: microphone.lastRead))
      skipCapture(oldCaptureRate.frames(inNanoseconds: gap))
      changeMicrophone(replacement)
    }
    if sides.contains(.playback) { changeLoudspeaker(replacement, oldPeriod: oldPeriod) }
    reference.forgetAlignment()
    gone.subtract(sides)
    signals.noteBack(sides)
    wait.follow(&device)
    report.statistics.deviceChanges += 1
    replacement.done.signal()
  }

  /// Exchanges the microphone's filters for those of `replacement`, which then holds the old ones.
  func replaceFilter(_ replacement: FilterReplacement) {
    microphone.chain.exchange(
      &replacement.filter,
      needsReference: replacement.needsReference
    )
    reference.forgetAlignment()
    report.statistics.captureProcessingNanoseconds = microphone.chain.delayNanoseconds
    replacement.done.signal()
  }

  private func changeMicrophone(_ replacement: DeviceReplacement<Device>) {
    microphone.chain.changeDevice(rate: device.captureRate, &replacement.captureResampler)
    let period = device.captureRate.nanoseconds(of: device.capturePeriod)
    microphone.clock.changeDevice(
      period: SampleRate.voice.frames(inNanoseconds: period),
      rate: .voice
    )
    report.statistics.capturePeriodNanoseconds = period
    report.statistics.captureProcessingNanoseconds = microphone.chain.delayNanoseconds
    microphone.stillness = StallWatchdog(device)
    microphone.lastRead = time.now
    discardStaleCapture()
  }

  private func changeLoudspeaker(_ replacement: DeviceReplacement<Device>, oldPeriod: Int64) {
    loudspeaker.chain.changeDevice(rate: device.playbackRate, &replacement.playbackResampler)
    report.statistics.playbackProcessingNanoseconds = loudspeaker.chain.delayNanoseconds
    loudspeaker.level = replacement.fill
    errand = nil
    loudspeaker.writtenFrames = 0
    loudspeaker.isCatchingUp = false
    loudspeaker.clock.changeDevice(period: device.playbackPeriod, rate: device.playbackRate)
    loudspeaker.stillness = StallWatchdog(device)
    let period = device.playbackRate.nanoseconds(of: device.playbackPeriod)
    streams.forEach { $0.stream.noteWaits(.period(from: oldPeriod, to: period)) }
    microphone.chain.resetEchoPath()
  }
}
