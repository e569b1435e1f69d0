import MediaCore
import DeviceTiming
import RealTime
import Synchronization

/// The loop of the voice thread.
///
/// One poll over the device and the control event, then capture, send, receive, render and play.
/// `DeferredWrite` may postpone the last three within the period.
///
/// Sockets are read just before each render; kernel timestamps preserve arrival times. A generic
/// type cannot carry the no-allocation marks, so a test counts allocations.
final class VoiceLoop<
  Device: AudioDevice & ~Copyable,
  Transport: PacketTransport & ~Copyable,
  Time: TimeSource
> {
  let signals: LoopSignals
  private let isMeasuring: Bool
  var reference = EchoReference()
  /// Sides of the device that are gone and not replaced.
  var gone: StreamDirections = []
  var lastTurn: MonotonicInstant
  /// Errand to perform before the microphone has its next period; nil for none.
  var errand: DeferredWrite?

  // SAFETY: one thread runs the loop, and neither streams, chains nor ports call back into it.
  // Dynamic exclusivity checks would be a good part of an iteration's time.
  @safe @exclusivity(unchecked) var wait: LoopWait
  @safe @exclusivity(unchecked) private var trace: StageTrace?
  @safe @exclusivity(unchecked) private var monitor: LoopMonitor
  @safe @exclusivity(unchecked) var report: LoopReport
  @safe @exclusivity(unchecked) var microphone: LoopMicrophone
  @safe @exclusivity(unchecked) var loudspeaker: LoopLoudspeaker
  @safe @exclusivity(unchecked) var block = SampleBuffer(repeating: 0, count: 4_096)
  @safe @exclusivity(unchecked) private var mix = SampleBuffer(repeating: 0, count: 16_384)
  @safe @exclusivity(unchecked) private var voice = SampleBuffer(repeating: 0, count: 16_384)
  @safe @exclusivity(unchecked) private var datagram = ByteBuffer(
    repeating: 0,
    count: VoiceStream.maximumDatagram
  )
  // What has a generic type comes last: where the rest lies is then known beforehand.
  private var changes: RingConsumer<DeviceChange<Device>>
  @safe @exclusivity(unchecked) var streams: StreamTable<Transport>
  @safe @exclusivity(unchecked) var device: Device
  let time: Time

  init(
    device: consuming Device,
    settings: EngineSettings,
    time: Time,
    signals: LoopSignals,
    streams: consuming StreamTable<Transport>,
    changes: consuming RingConsumer<DeviceChange<Device>>,
    reports: consuming TripleBufferWriter<EngineStatistics>,
    monitor: consuming LoopMonitor,
    stageTimes: consuming RingProducer<StageTime>?
  ) throws {
    microphone = try LoopMicrophone(device, settings, at: time.now)
    loudspeaker = try LoopLoudspeaker(device)
    report = LoopReport(reports, from: time.now)
    report.statistics.capturePeriodNanoseconds =
      device.captureRate.nanoseconds(of: device.capturePeriod)
    report.statistics.captureProcessingNanoseconds = microphone.chain.delayNanoseconds
    report.statistics.playbackProcessingNanoseconds = loudspeaker.chain.delayNanoseconds
    isMeasuring = settings.measurement != .off || settings.trace != .off
    wait = LoopWait(signals)
    lastTurn = time.now
    self.device = device
    self.signals = signals
    self.streams = streams
    self.changes = changes
    self.monitor = monitor
    self.time = time
    if let times = stageTimes { trace = StageTrace(times: times) }
  }

  /// Runs until the stop flag is set, then sends an RTCP BYE on every stream.
  func run() {
    discardStaleCapture()
    wait.follow(&device)
    while !signals.isStopping.load(ordering: .acquiring) {
      let isSignalled = wait.sleep(
        hasCapture: microphone.emptyTurns < 2,
        limit: nextTurn?.nanoseconds(since: time.now),
        &device
      )
      if isSignalled {
        signals.wakeUp.acknowledge()
        obey()
      }
      turn()
    }
    streams.releaseAll(sendingFrom: &datagram, by: time)
  }

  // Frames captured while the device was starting would be a burst that looks like jitter.
  func discardStaleCapture() {
    for _ in 0..<64 {
      let transfer = device.read(into: &block)
      guard transfer.frames > 0 || transfer.lost > 0, !transfer.isGone else { return }
    }
  }

  /// Performs everything that is due now.
  func turn() {
    let now = time.now
    report.statistics.turns += 1
    if let errand, now >= errand.time {
      perform(errand)
    } else {
      microphone.emptyTurns = min(microphone.emptyTurns + 1, 2)
      captureAndSend(at: now)
      playInTime(sinceTurnAt: now)
    }
    watch(at: now)
    if report.takeDue(at: now) { publish(at: now) }
  }

  /// Executes the engine's commands.
  func obey() {
    obeyStreams()
    while let change = changes.read() {
      switch change {
      case .sides(let replacement): replacement.use { replace($0) }
      case .filter(let replacement): replacement.use { replaceFilter($0) }
      }
    }
  }

  // MARK: The two directions

  private func captureAndSend(at begin: MonotonicInstant) {
    guard !gone.contains(.capture) else { return }
    var begin = begin
    for _ in 0..<16 {
      let transfer = device.read(into: &block)
      if transfer.isGone {
        return noteGone(.capture)
      }
      if transfer.lost > 0 {
        report.statistics.overruns += 1
        microphone.lastRead = time.now
        skipCapture(transfer.lost)
      }
      guard transfer.frames > 0 else { return }
      let read = time.now
      // What the user did while the read hung comes before a word of it is sent.
      if read.nanoseconds(since: begin) > Self.longestRead, !goesOnAfterHanging() { return }
      begin = read
      microphone.emptyTurns = 0
      microphone.lastRead = read
      microphone.stillness.noteMoved()
      wait.noteMoved()
      if isMeasuring { noteReading(transfer.frames, at: read) }
      microphone.chain.process(block, count: transfer.frames, reference: reference)
      noteCapture()
      let frames = microphone.chain.outputFrames
      streams.forEach { if $0.conference != 0 { $0.bridge.take(frames) } }
      streams.forEach { sendCaptured(on: $0) }
      sendPackets(readAt: read)
    }
  }

  /// Longest read that counts as normal, in nanoseconds: a sound server that hangs may block one.
  private static var longestRead: Int64 { 100_000_000 }

  private func goesOnAfterHanging() -> Bool {
    obeyStreams()
    return !signals.isStopping.load(ordering: .acquiring)
  }

  private func obeyStreams() {
    streams.obey(
      isInterrupted: gone.contains(.playback),
      sendingFrom: &datagram,
      by: time
    )
  }

  /// Advances the timelines over frames, at the microphone's rate, that are not sent.
  func skipCapture(_ frames: FrameCount) {
    report.statistics.lostFrames += Int64(frames)
    let lost = microphone.chain.skip(frames)
    report.statistics.capturedFrames += Int64(lost)
    monitor.noteCaptured(silence: lost)
    streams.forEach { box in
      box.stream.skip(lost)
      box.tap.use { $0.noteSaid(silence: lost) }
    }
  }

  private func sendPackets(readAt read: MonotonicInstant) {
    guard trace != nil else { return streams.forEach { $0.send(&datagram) } }
    let block = CapturedBlock(
      age: microphone.clock.age(ofFrame: microphone.chain.delivered),
      read: read,
      processed: time.now
    )
    var begin = block.processed
    streams.forEach { $0.send(&datagram, of: block, from: &begin, tracing: &trace, by: time) }
  }

  // The first frame of what was read now was sampled after all that was captured before; a period
  // later it could be read. What comes out of the filters was sampled by their delay earlier.
  private func noteReading(_ frames: FrameCount, at read: MonotonicInstant) {
    let pending = device.captureRate.nanoseconds(of: device.pendingFrames() + frames)
    let sampled = SampleRate.voice.nanoseconds(of: Int(report.statistics.capturedFrames))
    let delay = microphone.chain.delayNanoseconds
    let origin = read.nanoseconds - pending - sampled - delay
    report.statistics.captureOrigin = min(report.statistics.captureOrigin, origin)
    guard trace != nil else { return }
    microphone.clock.update(
      frames: microphone.chain.captured + Int64(SampleRate.voice.frames(inNanoseconds: pending)),
      isDry: false,
      at: read
    )
  }

  // The microphone, with the tone of a recording, and in a conference the others' sound.
  private func sendCaptured(on box: StreamBox<Transport>) {
    let frames = microphone.chain.outputFrames
    let isMuted = box.isMuted || signals.isInputMuted.load(ordering: .relaxed)
    // A block that is longer than any card's has no tone, and so no recording.
    guard box.conference != 0 || !box.tap.isNone, frames <= voice.count else {
      return box.stream.push(microphone.chain.output, count: frames, isMuted: isMuted)
    }
    voice.copy(from: microphone.chain.output, count: frames)
    if isMuted { voice.fill(0, count: frames) }
    let isSent = box.stream.sendsVoice
    // The others of a conference do not hear the tone, so they are not recorded.
    box.tap.use { $0.noteSaid(&voice, count: frames, isSent: isSent) }
    if box.conference == 0 { return box.stream.push(voice, count: frames, isMuted: false) }
    streams.forEach { other in
      guard other !== box, other.conference == box.conference else { return }
      voice.add(other.bridge.taken, count: min(frames, ConferenceBridge.capacity))
    }
    box.stream.push(voice, count: frames, isMuted: false)
  }

  private func noteCapture() {
    let frames = microphone.chain.outputFrames
    report.noteCaptured(frames, peak: microphone.chain.output.peak(count: frames))
    monitor.noteCaptured(microphone.chain.output, count: frames)
  }

  func receiveAndPlay() {
    // Taken beside the position, not before the encoders had their time.
    let now = time.now
    let queued = gone.contains(.playback) ? 0 : device.queuedFrames()
    let played = loudspeaker.writtenFrames - Int64(queued)
    let age = loudspeaker.level.age(at: now, queued: queued)
    loudspeaker.clock.update(
      frames: played,
      age: age,
      isDry: queued == 0,
      at: now
    )
    if loudspeaker.isCatchingUp {
      loudspeaker.isCatchingUp = false
      // What it asks for now it would have asked for during a period.
      let period = device.playbackRate.nanoseconds(of: device.playbackPeriod)
      let end = loudspeaker.clock.now.advanced(byNanoseconds: period)
      streams.forEach { $0.stream.noteCatchingUp(until: end) }
    }
    streams.forEach { box in
      box.receive(&datagram, at: now, playback: loudspeaker.clock, tracing: &trace)
      box.passDigitsOn(signals)
    }
    guard !gone.contains(.playback) else { return }

    let wanted = loudspeaker.level.framesToWrite(queued: queued, at: now)
    guard wanted > 0 else { return loudspeaker.level.noteWriting(queued: queued) }
    // What takes whole blocks took the last one so long ago, and plays it for a period.
    var lead = device.playbackRate.nanoseconds(of: queued)
    if let age { lead += max(0, device.playbackRate.nanoseconds(of: device.playbackPeriod) - age) }
    loudspeaker.noteLead(lead)
    let frames = min(loudspeaker.chain.inputFrames(for: wanted), 4_096)
    mix.fill(0, count: frames)
    var ahead: Int64 = 0
    var reported = now
    // Asking the device for its delay costs time, and is only needed here.
    if isMeasuring || microphone.chain.needsReference {
      let delay = max(queued, device.playbackDelayFrames())
      ahead = device.playbackRate.nanoseconds(of: delay)
      // A server that reports no more than the queue reported it when it took its last block.
      if delay == queued { reported = now.advanced(byNanoseconds: -(age ?? 0)) }
    }
    streams.forEach { render($0, frames, ahead: ahead) }
    notePlayback(frames, ahead: ahead, at: reported)
    loudspeaker.chain.process(mix, count: frames)
    let transfer = device.write(
      loudspeaker.chain.output,
      count: loudspeaker.chain.outputFrames
    )
    loudspeaker.writtenFrames += Int64(transfer.frames)
    loudspeaker.level.noteWriting(queued: queued + transfer.frames)
    if transfer.frames > 0 {
      loudspeaker.stillness.noteMoved()
      wait.noteMoved()
    }
    if transfer.isGone { noteGone(.playback) }
    if transfer.lost > 0 { noteUnderrun(lost: transfer.lost, at: now) }
  }

  private func noteUnderrun(lost frames: FrameCount, at now: MonotonicInstant) {
    report.statistics.underruns += 1
    report.statistics.lostFrames += Int64(frames)
    loudspeaker.level.noteUnderrun(at: now)
    loudspeaker.clock.noteRestart()
    streams.forEach { $0.stream.noteInterruption() }
    // The loudspeaker was silent for so long: positions go on with its time.
    let silent = SampleRate.voice.frames(
      inNanoseconds: device.playbackRate.nanoseconds(of: frames)
    )
    report.statistics.playedFrames += Int64(silent)
    report.statistics.silentFrames += Int64(silent)
    monitor.notePlayed(silence: silent)
    streams.forEach { $0.tap.use { $0.noteHeard(silence: silent) } }
  }

  private func render(_ box: StreamBox<Transport>, _ frames: FrameCount, ahead: Int64) {
    let now = loudspeaker.clock.now
    guard box.conference != 0 || !box.tap.isNone else {
      return box.render(
        addingTo: &mix,
        count: frames,
        at: now,
        fillNanoseconds: ahead,
        tracing: &trace,
        by: time
      )
    }
    voice.fill(0, count: frames)
    box.render(
      addingTo: &voice,
      count: frames,
      at: now,
      fillNanoseconds: ahead,
      tracing: &trace,
      by: time
    )
    if box.conference != 0 { box.bridge.append(voice, count: frames) }
    box.tap.use { $0.noteHeard(voice, count: frames) }
    mix.add(voice, count: frames)
  }

  private func notePlayback(_ frames: FrameCount, ahead: Int64, at now: MonotonicInstant) {
    if isMeasuring { measurePlayback(frames, ahead: ahead, at: now) }
    report.statistics.playedFrames += Int64(frames)
    guard microphone.chain.needsReference else { return }
    reference.append(mix, count: frames)
    let delay =
      SampleRate.voice.frames(inNanoseconds: ahead) + frames
      + SampleRate.voice.frames(
        inNanoseconds: device.captureRate.nanoseconds(of: device.pendingFrames())
      )
    if reference.align(captured: microphone.chain.captured, delay: delay) {
      microphone.chain.resetEchoPath()
    }
  }

  private func measurePlayback(_ frames: FrameCount, ahead: Int64, at now: MonotonicInstant) {
    let position = report.statistics.playedFrames
    let origin = now.nanoseconds + ahead - SampleRate.voice.nanoseconds(of: Int(position))
    report.statistics.playbackOrigin = min(report.statistics.playbackOrigin, origin)
    monitor.notePlayed(&mix, count: frames, at: position)
  }

  private func publish(at now: MonotonicInstant) {
    report.statistics.playbackFillNanoseconds = loudspeaker.leadNanoseconds ?? 0
    report.statistics.isDeviceGone = !gone.isEmpty
    report.publish()
    streams.report(at: now, sendingFrom: &datagram, by: time)
  }

  /// Starts the device; called once, just before `run`.
  func startDevice() throws(AudioDeviceError) {
    try device.start(fill: loudspeaker.level.goal)
  }
}

// SAFETY: made by the engine and handed to the voice thread before it starts; only that thread
// touches it until it has been joined.
extension VoiceLoop: @unchecked Sendable {}
