import CLinux
import MediaCore
import DeviceTiming
import RealTime
import Synchronization

/// The loop of the voice thread.
///
/// One poll over the device and the control event, then capture, send, receive, render and play.
/// `DeferredWrite` may put the last three off within the period.
///
/// Sockets are read just before each render; kernel timestamps preserve arrival times. A generic
/// type cannot carry the no-allocation marks, so a benchmark counts allocations.
final class VoiceLoop<
  Device: AudioDevice & ~Copyable,
  Transport: PacketTransport & ~Copyable,
  Time: TimeSource
> {
  static var streamCapacity: Int { 256 }

  let signals: LoopSignals
  private var released: RingProducer<Int>
  private var reports: TripleBufferWriter<EngineStatistics>
  private var monitorCapture: RingProducer<Float>?
  private var monitorPlayback: RingProducer<Float>?
  private let isMeasuring: Bool
  private let isProbing: Bool
  private let isEcho: Bool

  var reference = EchoReference()
  var captureClock: DeviceClock
  var writtenFrames: Int64 = 0
  private var nextReport: MonotonicInstant
  /// Sides that are gone and not replaced.
  var gone: StreamDirections = []
  /// When the microphone last gave something; at first when the loop began.
  var lastRead: MonotonicInstant
  var lastTurn: MonotonicInstant
  var captureStillness: StallWatchdog
  var playbackStillness: StallWatchdog
  private var isInputMuted = false
  var waitedCount = 1

  private var streamIDs = FixedArray<Int>(repeating: 0, count: 256)
  /// The slots from here on are free.
  private var slotCount = 0
  var descriptors = FixedArray<pollfd>(repeating: pollfd(), count: 24)
  private var chirp = SampleBuffer(ProbeSignal.chirp())

  /// Between two reports to the engine.
  private static var reportNanoseconds: Int64 { 100_000_000 }
  /// A device that stands still must not keep reports from going out.
  private static var idleNanoseconds: Int64 { 50_000_000 }
  var waits: Waits
  private var turnsWithoutCapture = 0
  /// What is to be done before the microphone has its next period.
  var errand: DeferredWrite?

  // SAFETY: one thread runs the loop, and neither streams, chains nor ports call back into it.
  // Dynamic exclusivity checks would be a good part of an iteration's time.
  @safe @exclusivity(unchecked) private var trace: StageTrace?
  @safe @exclusivity(unchecked) var capture: CaptureChain
  @safe @exclusivity(unchecked) var playback: PlaybackChain
  @safe @exclusivity(unchecked) var fill: PlaybackLevel
  @safe @exclusivity(unchecked) var playbackClock: DeviceClock
  @safe @exclusivity(unchecked) var statistics = EngineStatistics()
  @safe @exclusivity(unchecked) private var inputPeak = PeakHold()
  @safe @exclusivity(unchecked) var block = SampleBuffer(repeating: 0, count: 4_096)
  @safe @exclusivity(unchecked) private var mix = SampleBuffer(repeating: 0, count: 16_384)
  @safe @exclusivity(unchecked) private var bridged = SampleBuffer(repeating: 0, count: 16_384)
  @safe @exclusivity(unchecked) private var datagram = ByteBuffer(
    repeating: 0,
    count: VoiceStream.maximumDatagram
  )
  // What has a generic type comes last: where the rest lies is then known beforehand.
  private var commands: RingConsumer<LoopCommand<Device, Transport>>
  private var boxes = FixedArray<LentObject<StreamBox<Transport>>>(repeating: .none, count: 256)
  @safe @exclusivity(unchecked) var device: Device
  let time: Time

  /// How long the loop sleeps at most.
  ///
  /// The microphone wakes it, and a wait of just a period would race it; without a microphone the
  /// loudspeaker still wants its frames in time.
  struct Waits {
    let withCapture: Int64
    let withoutCapture: Int64

    init(_ device: borrowing Device) {
      let period = device.playbackRate.nanoseconds(of: device.playbackPeriod)
      withoutCapture = min(idleNanoseconds, max(1_000_000, period))
      withCapture = min(idleNanoseconds, max(1_000_000, period * 5 / 4))
    }
  }

  init(
    device: consuming Device,
    settings: EngineSettings,
    time: Time,
    signals: LoopSignals,
    commands: consuming RingConsumer<LoopCommand<Device, Transport>>,
    released: consuming RingProducer<Int>,
    reports: consuming TripleBufferWriter<EngineStatistics>,
    monitorCapture: consuming RingProducer<Float>?,
    monitorPlayback: consuming RingProducer<Float>?,
    stageTimes: consuming RingProducer<StageTime>?
  ) throws {
    capture = try CaptureChain(rate: device.captureRate, filters: settings.filters)
    playback = try PlaybackChain(rate: device.playbackRate)
    fill = PlaybackLevel(device)
    playbackClock = DeviceClock(period: device.playbackPeriod, rate: device.playbackRate)
    let capturePeriod = device.captureRate.nanoseconds(of: device.capturePeriod)
    captureClock = DeviceClock(
      period: SampleRate.voice.frames(inNanoseconds: capturePeriod),
      rate: .voice
    )
    statistics.capturePeriodNanoseconds = capturePeriod
    isMeasuring = settings.measurement != .off || settings.trace != .off
    isEcho = settings.isEcho
    isProbing = settings.measurement == .probe
    waits = Waits(device)
    captureStillness = StallWatchdog(periodNanoseconds: capturePeriod)
    playbackStillness = StallWatchdog(
      periodNanoseconds: device.playbackRate.nanoseconds(of: device.playbackPeriod)
    )
    self.device = device
    self.signals = signals
    self.commands = commands
    self.released = released
    self.reports = reports
    nextReport = time.now
    lastRead = time.now
    lastTurn = time.now
    self.time = time
    self.monitorCapture = monitorCapture
    self.monitorPlayback = monitorPlayback
    if let times = stageTimes { trace = StageTrace(settings.trace, times: times) }
  }

  /// Runs until the stop flag is set, then says goodbye on every stream.
  func run() {
    discardStaleCapture()
    descriptors[0] = pollfd(fd: signals.wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
    waitedCount = 1 + device.pollDescriptors(&descriptors, from: 1)
    while !signals.isStopping.load(ordering: .acquiring) {
      _ = unsafe realtime_poll(
        descriptors.address,
        UInt32(truncatingIfNeeded: waitedCount),
        longestSleep
      )
      device.acknowledge(&descriptors, from: 1)
      if descriptors[0].revents != 0 {
        signals.wakeUp.acknowledge()
        obey()
      }
      turn()
    }
    for slot in 0..<Self.streamCapacity where !boxes[slot].isNone { release(slot) }
  }

  private var longestSleep: Int64 {
    let longest = turnsWithoutCapture < 2 ? waits.withCapture : waits.withoutCapture
    guard let errand else { return longest }
    return max(0, min(longest, errand.time.nanoseconds(since: time.now)))
  }

  // Frames captured while the device was starting would be a burst that looks like jitter.
  func discardStaleCapture() {
    for _ in 0..<64 {
      let transfer = device.read(into: &block)
      guard transfer.frames > 0 || transfer.lost > 0, !transfer.isGone else { return }
    }
  }

  /// Does whatever can be done by now.
  func turn() {
    let now = time.now
    statistics.turns += 1
    if let errand, now >= errand.time {
      perform(errand)
    } else {
      turnsWithoutCapture = min(turnsWithoutCapture + 1, 2)
      captureAndSend()
      if !isEcho { playInTime(sinceTurnAt: now) }
    }
    if !isEcho { watch(at: now) }
    if now >= nextReport { publish(at: now) }
  }

  // MARK: Streams

  /// Takes the engine's commands.
  func obey() {
    while let command = commands.read() {
      switch command {
      case .attach(let id, let box):
        for slot in 0..<Self.streamCapacity where boxes[slot].isNone {
          boxes[slot] = box
          streamIDs[slot] = id
          slotCount = max(slotCount, slot + 1)
          if gone.contains(.playback) { interrupt(id) }
          break
        }
      case .detach(let id):
        for slot in 0..<slotCount
        where !boxes[slot].isNone && streamIDs[slot] == id {
          release(slot)
        }
      case .mute(let id, let isMuted):
        forEachStream { if $1 == id { $0.isMuted = isMuted } }
      case .muteInput(let isMuted):
        isInputMuted = isMuted
      case .setBitrate(let id, let bitsPerSecond):
        forEachStream { if $1 == id { $0.stream.setBitrate(bitsPerSecond) } }
      case .press(let id, let code):
        forEachStream { if $1 == id { _ = $0.stream.press(code) } }
      case .replace(let replacement):
        replacement.use { replace($0) }
      case .setConference(let id, let conference):
        forEachStream { if $1 == id { $0.conference = conference } }
      }
    }
  }

  private func interrupt(_ id: Int) {
    forEachStream { if $1 == id { $0.stream.noteInterruption() } }
  }

  // The engine keeps each box until it reads its release.
  func forEachStream(_ body: (StreamBox<Transport>, Int) -> Void) {
    for slot in 0..<slotCount { boxes[slot].use { body($0, streamIDs[slot]) } }
  }

  private func release(_ slot: Int) {
    let now = time.now
    let id = streamIDs[slot]
    forEachStream {
      if $1 == id { $0.report(&datagram, at: now, wall: time.wallNanoseconds, isLast: true) }
    }
    boxes[slot] = .none
    while slotCount > 0, boxes[slotCount - 1].isNone { slotCount -= 1 }
    // Always taken: the ring holds twice as many as there are streams.
    _ = released.write(id)
  }

  // MARK: The two directions

  private func captureAndSend() {
    guard !gone.contains(.capture) else { return }
    for _ in 0..<16 {
      let transfer = device.read(into: &block)
      if transfer.isGone {
        return noteGone(.capture)
      }
      if transfer.lost > 0 {
        statistics.overruns += 1
        lastRead = time.now
        skipCapture(transfer.lost)
      }
      guard transfer.frames > 0 else { return }
      turnsWithoutCapture = 0
      let read = time.now
      lastRead = read
      captureStillness.noteMoved()
      if isMeasuring { noteReading(transfer.frames, at: read) }
      capture.process(block, count: transfer.frames, reference: reference)
      noteCapture()
      takeFromBridges(capture.outputFrames)
      if isEcho {
        echo(at: read)
      } else {
        forEachStream { box, _ in sendCaptured(on: box) }
      }
      sendPackets(readAt: read)
    }
  }

  /// Advances the timelines over frames, at the microphone's rate, that are not sent.
  func skipCapture(_ frames: FrameCount) {
    statistics.lostFrames += Int64(frames)
    let lost = capture.skip(frames)
    statistics.capturedFrames += Int64(lost)
    _ = monitorCapture?.write(repeating: 0, count: lost)
    forEachStream { box, _ in box.stream.skip(lost) }
  }

  private func sendPackets(readAt read: MonotonicInstant) {
    guard trace != nil else { return forEachStream { box, _ in box.send(&datagram) } }
    let block = CapturedBlock(
      age: captureClock.age(ofFrame: capture.delivered),
      read: read,
      processed: time.now
    )
    var begin = block.processed
    forEachStream { box, _ in
      box.send(&datagram, of: block, from: &begin, tracing: &trace, by: time)
    }
  }

  // The first frame of what was read now was sampled after all that was captured before; a period
  // later it could be read.
  private func noteReading(_ frames: FrameCount, at read: MonotonicInstant) {
    let pending = device.captureRate.nanoseconds(of: device.pendingFrames() + frames)
    let sampled = SampleRate.voice.nanoseconds(of: Int(statistics.capturedFrames))
    let origin = read.nanoseconds - pending - sampled
    statistics.captureOrigin = min(statistics.captureOrigin, origin)
    guard trace != nil else { return }
    captureClock.update(
      frames: capture.captured + Int64(SampleRate.voice.frames(inNanoseconds: pending)),
      isDry: false,
      at: read
    )
    let due = statistics.captureOrigin + sampled + statistics.capturePeriodNanoseconds
    trace?.noteLateness(read.nanoseconds - due)
  }

  // Says back to each far side what it says.
  private func echo(at now: MonotonicInstant) {
    let frames = capture.outputFrames
    playbackClock.update(frames: capture.captured, isDry: false, at: now)
    let instant = playbackClock.now
    forEachStream { box, _ in
      box.receive(&datagram, at: now, playback: playbackClock, tracing: &trace)
      box.passKeysOn(signals)
      bridged.fill(0, count: frames)
      box.render(
        addingTo: &bridged,
        count: frames,
        at: instant,
        fillNanoseconds: 0,
        tracing: &trace,
        by: time
      )
      box.stream.push(bridged, count: frames, isMuted: box.isMuted)
    }
  }

  private func takeFromBridges(_ frames: FrameCount) {
    forEachStream { box, _ in if box.conference != 0 { box.bridge.take(frames) } }
  }

  // The microphone, and in a conference the others' sound.
  private func sendCaptured(on box: StreamBox<Transport>) {
    let frames = capture.outputFrames
    let isMuted = box.isMuted || isInputMuted
    guard box.conference != 0, frames <= ConferenceBridge.capacity else {
      return box.stream.push(capture.output, count: frames, isMuted: isMuted)
    }
    bridged.copy(from: capture.output, count: frames)
    if isMuted { bridged.fill(0, count: frames) }
    forEachStream { other, _ in
      guard other !== box, other.conference == box.conference else { return }
      bridged.add(other.bridge.taken, count: frames)
    }
    box.stream.push(bridged, count: frames, isMuted: false)
  }

  private func noteCapture() {
    let frames = capture.outputFrames
    inputPeak.note(capture.output.peak(count: frames))
    statistics.capturedFrames += Int64(frames)
    // A full monitor ends the recording of a measurement, not the call.
    _ = monitorCapture?.write(capture.output, count: frames)
  }

  func receiveAndPlay() {
    // Taken beside the position, not before the encoders had their time.
    let now = time.now
    let queued = gone.contains(.playback) ? 0 : device.queuedFrames()
    playbackClock.update(frames: writtenFrames - Int64(queued), isDry: queued == 0, at: now)
    forEachStream { box, _ in
      box.receive(&datagram, at: now, playback: playbackClock, tracing: &trace)
      box.passKeysOn(signals)
    }
    guard !gone.contains(.playback) else { return }

    let wanted = fill.framesToWrite(queued: queued, at: now)
    guard wanted > 0 else { return fill.noteWriting(queued: queued) }
    let frames = min(playback.inputFrames(for: wanted), 4_096)
    mix.fill(0, count: frames)
    var ahead: Int64 = 0
    var said = now
    // Asking the device for its delay costs time, and is only needed here.
    if isMeasuring || capture.needsReference {
      let delay = max(queued, device.playbackDelayFrames())
      ahead = device.playbackRate.nanoseconds(of: delay)
      // A server that reports no more than the queue reported it when it took its last block.
      if delay == queued { said = now.advanced(byNanoseconds: -fill.age(at: now)) }
    }
    forEachStream { box, _ in render(box, frames, ahead: ahead) }
    notePlayback(frames, ahead: ahead, at: said)
    playback.process(mix, count: frames)
    let transfer = device.write(playback.output, count: playback.outputFrames)
    writtenFrames += Int64(transfer.frames)
    fill.noteWriting(queued: queued + transfer.frames)
    if transfer.frames > 0 { playbackStillness.noteMoved() }
    if transfer.isGone { noteGone(.playback) }
    if transfer.lost > 0 {
      statistics.underruns += 1
      statistics.lostFrames += Int64(transfer.lost)
      fill.noteUnderrun(at: now)
      playbackClock.noteRestart()
      forEachStream { box, _ in box.stream.noteInterruption() }
      // The loudspeaker was silent for so long: positions go on with its time.
      let silent = SampleRate.voice.frames(
        inNanoseconds: device.playbackRate.nanoseconds(of: transfer.lost)
      )
      statistics.playedFrames += Int64(silent)
      _ = monitorPlayback?.write(repeating: 0, count: silent)
    }
  }

  private func render(_ box: StreamBox<Transport>, _ frames: FrameCount, ahead: Int64) {
    let now = playbackClock.now
    guard box.conference != 0 else {
      return box.render(
        addingTo: &mix,
        count: frames,
        at: now,
        fillNanoseconds: ahead,
        tracing: &trace,
        by: time
      )
    }
    bridged.fill(0, count: frames)
    box.render(
      addingTo: &bridged,
      count: frames,
      at: now,
      fillNanoseconds: ahead,
      tracing: &trace,
      by: time
    )
    box.bridge.append(bridged, count: frames)
    mix.add(bridged, count: frames)
  }

  private func notePlayback(_ frames: FrameCount, ahead: Int64, at now: MonotonicInstant) {
    if isMeasuring { measurePlayback(frames, ahead: ahead, at: now) }
    statistics.playedFrames += Int64(frames)
    guard capture.needsReference else { return }
    reference.append(mix, count: frames)
    let delay =
      SampleRate.voice.frames(inNanoseconds: ahead) + frames
      + SampleRate.voice.frames(
        inNanoseconds: device.captureRate.nanoseconds(of: device.pendingFrames())
      )
    if reference.align(captured: capture.captured, delay: delay) { capture.resetEchoPath() }
  }

  private func measurePlayback(_ frames: FrameCount, ahead: Int64, at now: MonotonicInstant) {
    let origin =
      now.nanoseconds + ahead - SampleRate.voice.nanoseconds(of: Int(statistics.playedFrames))
    statistics.playbackOrigin = min(statistics.playbackOrigin, origin)
    guard monitorPlayback != nil else { return }
    _ = monitorPlayback?.write(mix, count: frames)
    guard isProbing else { return }
    for index in 0..<frames {
      let position = Int(statistics.playedFrames + Int64(index)) % ProbeSignal.intervalFrames
      mix[index] = position < ProbeSignal.chirpFrames ? chirp[position] : 0
    }
  }

  private func publish(at now: MonotonicInstant) {
    nextReport = now.advanced(byNanoseconds: Self.reportNanoseconds)
    statistics.playbackFillNanoseconds = device.playbackRate.nanoseconds(of: fill.level)
    statistics.isDeviceGone = !gone.isEmpty
    statistics.inputPeak = inputPeak.take(isRead: reports.isRead)
    reports.write(statistics)
    let wall = time.wallNanoseconds
    forEachStream { box, _ in
      box.report(&datagram, at: now, wall: wall, isLast: false)
      box.publish(at: now)
    }
  }

  /// Starts the device; called once, just before `run`.
  func startDevice() throws(AudioDeviceError) {
    try device.start(fill: fill.goal)
  }
}

// SAFETY: made by the engine and handed to the voice thread before it starts; only that thread
// touches it until it has been joined.
extension VoiceLoop: @unchecked Sendable {}
