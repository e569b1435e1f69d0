import CLinux
import MediaCore
public import RealTime
import Synchronization

/// A device and the streams that talk through it, on one voice thread.
///
/// **Life cycle:** the initialiser starts the device and the thread; `stop` ends both and releases
/// the device, streams and sockets, and is called at the latest by `deinit`.
/// **Thread safety:** every method may be called from any thread except the voice thread.
/// **Ownership:** device and transports are consumed and belong to the voice thread.
public final class VoiceEngine<
  Device: AudioDevice & ~Copyable,
  Transport: PacketTransport & ~Copyable
>: Sendable {
  /// What was captured and played at 48 kHz since the last call of `takeMonitor`.
  public struct Monitor: Equatable, Sendable {
    /// Samples after the capture filters.
    package var captured: [Float]
    /// Samples of the far side before the loudspeaker.
    package var played: [Float]
  }

  private typealias Loop = VoiceLoop<Device, Transport, SystemTime>
  private typealias Command = LoopCommand<Device, Transport>

  private struct Control: ~Copyable {
    var commands: RingProducer<Command>
    /// Commands that found the ring full, oldest first: none is lost, and none overtakes another.
    var backlog: [Command] = []
    var released: RingConsumer<Int>
    var reports: TripleBufferReader<EngineStatistics>
    var monitorCapture: RingConsumer<Float>?
    var monitorPlayback: RingConsumer<Float>?
    var stageTimes: RingConsumer<StageTime>?
    var streams: [Int: Attached] = [:]
    var newest: EngineStatistics?
    var thread: RealTimeThread?
    /// Sides on their way to the voice thread.
    var replacements: [DeviceReplacement<Device>] = []
  }

  // SAFETY: reached only through `control`, under its lock; the loop has the box alone.
  private final class Attached: @unchecked Sendable {
    let box: StreamBox<Transport>
    var reports: TripleBufferReader<StreamStatistics>
    var keys: RingConsumer<UInt8>
    var newest: StreamStatistics?

    init(
      box: StreamBox<Transport>,
      reports: consuming TripleBufferReader<StreamStatistics>,
      keys: consuming RingConsumer<UInt8>
    ) {
      self.box = box
      self.reports = reports
      self.keys = keys
    }
  }

  private let control: Mutex<Control>
  private let signals: LoopSignals

  /// Starts a voice thread without streams, which starts `device`, and waits until that is done.
  ///
  /// - Parameters:
  ///   - device: the microphone and the loudspeaker.
  ///   - settings: how it runs.
  ///   - alarm: signalled whenever `goneSides` grows.
  ///   - onDenial: called once on the voice thread, with its kernel thread identifier, if the
  ///     system denies real-time scheduling. It must not wait for the initialiser, which waits for
  ///     the thread.
  /// - Throws: the device's error if it does not start, or a codec's or the system's.
  package init(
    device: consuming Device,
    settings: EngineSettings,
    alarm: WakeEvent? = nil,
    onDenial: (@Sendable (_ thread: Int32) -> Void)? = nil
  ) throws {
    let signals = try LoopSignals(alarm: alarm)

    var commands = RingProducer<Command>(capacity: 1_024)
    var released = RingProducer<Int>(capacity: 512)
    var reports = TripleBufferWriter<EngineStatistics>()
    var monitorCapture: RingProducer<Float>?
    var monitorPlayback: RingProducer<Float>?
    if settings.measurement != .off {
      monitorCapture = RingProducer(capacity: 480_000)
      monitorPlayback = RingProducer(capacity: 480_000)
    }
    var stageTimes: RingProducer<StageTime>?
    if settings.trace != .off { stageTimes = RingProducer(capacity: 65_536) }
    let commandReader = commands.makeConsumer()
    let control = Control(
      commands: commands,
      released: released.makeConsumer(),
      reports: reports.makeReader(),
      monitorCapture: monitorCapture?.makeConsumer(),
      monitorPlayback: monitorPlayback?.makeConsumer(),
      stageTimes: stageTimes?.makeConsumer()
    )
    let loop = try Loop(
      device: device,
      settings: settings,
      time: SystemTime(),
      signals: signals,
      commands: commandReader,
      released: released,
      reports: reports,
      monitorCapture: monitorCapture,
      monitorPlayback: monitorPlayback,
      stageTimes: stageTimes
    )
    self.control = Mutex(control)
    self.signals = signals

    let start = try DeviceStart()
    let thread = try RealTimeThread(name: "voice", policy: .realTime, onDenial: onDenial) {
      if start.perform(loop.startDevice) { loop.run() }
    }
    if let error = start.wait() {
      thread.join()
      throw error
    }
    self.control.withLock { $0.thread = thread }
  }

  deinit {
    stop()
  }

  /// What the system has granted the voice thread by now; `pending` until it has begun and after
  /// `stop`.
  package var scheduling: RealTimeThread.Scheduling {
    control.withLock { $0.thread?.scheduling ?? .pending }
  }

  /// Ends the voice thread, which says goodbye on every stream, and releases device and sockets.
  ///
  /// Blocks for a few milliseconds. Later calls do nothing.
  package func stop() {
    let thread = control.withLock { control in
      let thread = control.thread
      control.thread = nil
      return thread
    }
    guard let thread else { return }
    signals.isStopping.store(true, ordering: .releasing)
    signals.wakeUp.signal()
    thread.join()
    control.withLock { control in
      Self.collectReleased(&control)
      control.streams.removeAll()
      control.replacements.removeAll()
    }
  }

  // MARK: Devices

  /// The sides that are gone, or have stood still for a second, and were not replaced.
  package var goneSides: StreamDirections { signals.goneSides }

  /// Goes on with `sides` of another device, which it starts; what they replace is closed.
  ///
  /// Blocks until that is done. Streams go on: what the microphone misses is a gap of known length.
  /// Throws the device's error, and then nothing has changed.
  package func replace(_ sides: StreamDirections, with device: consuming Device) throws {
    let replacement = try DeviceReplacement(sides, with: device)
    let isTaken = control.withLock { control in
      guard control.thread != nil else { return false }
      control.replacements.append(replacement)
      send(.replace(LentObject(replacement)), &control)
      return true
    }
    guard isTaken else { return }
    var descriptor = pollfd(fd: replacement.done.descriptor, events: Int16(POLLIN), revents: 0)
    // The voice thread answers within a period; one that has ended does not.
    while unsafe poll(&descriptor, 1, Self.replacementMilliseconds) <= 0 {
      let isRunning = control.withLock { control in
        flush(&control)
        return control.thread != nil
      }
      guard isRunning else { return }
    }
    control.withLock { $0.replacements.removeAll { $0 === replacement } }
  }

  private static var replacementMilliseconds: CInt { 100 }

  // MARK: Streams

  /// Starts talking and hearing over `transport`, muted from the first packet on if that is wished,
  /// and in a conference (`setConference`).
  public func attach(
    _ configuration: StreamConfiguration,
    over transport: consuming Transport,
    _ state: MuteState = .unmuted,
    conference: Int = 0
  ) throws -> StreamID {
    let stream = try VoiceStream(configuration)
    var reports = TripleBufferWriter<StreamStatistics>()
    let reader = reports.makeReader()
    var keys = RingProducer<UInt8>(capacity: 64)
    let keyReader = keys.makeConsumer()
    let box = StreamBox(
      stream: stream,
      ssrc: configuration.ssrc,
      transport: transport,
      reports: reports,
      keys: keys
    )
    // Before the voice thread has it: not a word of a muted user is sent.
    box.isMuted = state == .muted
    box.conference = conference
    let attached = Attached(box: box, reports: reader, keys: keyReader)
    return try control.withLock { control in
      Self.collectReleased(&control)
      guard control.streams.count < Loop.streamCapacity else {
        throw EngineError.tooManyStreams
      }
      let id = StreamID.next()
      control.streams[id] = attached
      send(.attach(id: id, LentObject(box)), &control)
      return StreamID(rawValue: id)
    }
  }

  // The voice thread has released them: their boxes are ours alone.
  private static func collectReleased(_ control: inout Control) {
    while let id = control.released.read() { control.streams[id] = nil }
  }

  /// Sends RTCP BYE on a stream and ends it; its socket closes within the next statistics call.
  ///
  /// DTMF digits that it has not sent are dropped.
  public func detach(_ stream: StreamID) {
    send(.detach(id: stream.rawValue))
  }

  /// Lets every stream go, as `detach` does.
  package func detachAll() {
    for id in control.withLock({ Array($0.streams.keys) }) { send(.detach(id: id)) }
  }

  /// Sends silence instead of the microphone on every stream, or the microphone again.
  package func setInputMuted(_ state: MuteState) {
    send(.muteInput(state == .muted))
  }

  /// Sends silence instead of the microphone, or the microphone again.
  public func setMuted(_ stream: StreamID, _ state: MuteState) {
    send(.mute(id: stream.rawValue, isMuted: state == .muted))
  }

  /// Changes a stream's Opus bit rate, 6000 to 510000 bits per second.
  package func setBitrate(_ stream: StreamID, bitsPerSecond: Int) {
    send(.setBitrate(id: stream.rawValue, bitsPerSecond: bitsPerSecond))
  }

  /// Sends a key of the telephone's pad, coded as in RFC 4733, in place of the voice for 100 ms.
  package func press(_ stream: StreamID, code: UInt8) {
    send(.press(id: stream.rawValue, code: code))
  }

  /// Signalled when there may be something new for `takeKeys` of any stream.
  package var keyNews: WakeEvent { signals.keyNews }

  /// Fetches the codes of the keys that the far side has pressed since the last call.
  package func takeKeys(of stream: StreamID) -> [UInt8] {
    control.withLock { control in
      var codes: [UInt8] = []
      control.streams[stream.rawValue]?.keys.drain(into: &codes)
      return codes
    }
  }

  /// Lets the streams of one conference hear each other, mixed here; 0 takes a stream out of its
  /// one.
  package func setConference(_ stream: StreamID, _ conference: Int) {
    send(.setConference(id: stream.rawValue, conference: conference))
  }

  private func send(_ command: Command) {
    control.withLock { send(command, &$0) }
  }

  private func send(_ command: Command, _ control: inout Control) {
    control.backlog.append(command)
    flush(&control)
  }

  // The ring is full only while the voice thread stands still; whatever the control does next tries
  // again.
  private func flush(_ control: inout Control) {
    guard !control.backlog.isEmpty else { return }
    var taken = 0
    while taken < control.backlog.count, control.commands.write(control.backlog[taken]) {
      taken += 1
    }
    control.backlog.removeFirst(taken)
    signals.wakeUp.signal()
  }

  /// The newest statistics of the device side, nil before the first tenth of a second.
  ///
  /// The levels in it are the highest since the last call.
  package func statistics() -> EngineStatistics? {
    control.withLock { control in
      flush(&control)
      Self.collectReleased(&control)
      guard let report = control.reports.read() else {
        control.newest?.inputPeak = 0
        return control.newest
      }
      control.newest = report
      return report
    }
  }

  /// The newest statistics of a stream, nil before the first tenth of a second and after its end.
  ///
  /// The levels in it are the highest since the last call.
  package func statistics(of stream: StreamID) -> StreamStatistics? {
    control.withLock { control in
      Self.collectReleased(&control)
      guard let attached = control.streams[stream.rawValue] else { return nil }
      guard let report = attached.reports.read() else {
        attached.newest?.outputPeak = 0
        return attached.newest
      }
      attached.newest = report
      return report
    }
  }

  /// Fetches how long packets spent in each stage since the last call; empty unless settings ask
  /// for it.
  ///
  /// Call it at least each five seconds for every stream: what does not fit into the ring is left
  /// out.
  package func takeStageTimes() -> [StageTime] {
    control.withLock { control in
      var times: [StageTime] = []
      control.stageTimes?.drain(into: &times)
      return times
    }
  }

  /// Fetches what was captured and played since the last call; empty unless settings ask for it.
  package func takeMonitor() -> Monitor {
    control.withLock { control in
      var monitor = Monitor(captured: [], played: [])
      control.monitorCapture?.drain(into: &monitor.captured)
      control.monitorPlayback?.drain(into: &monitor.played)
      return monitor
    }
  }
}

/// What an engine cannot do.
public enum EngineError: Error, Equatable, Sendable {
  /// It carries 256 streams already.
  case tooManyStreams
}

/// Whether a stream sends the microphone.
public enum MuteState: Equatable, Sendable {
  /// Silence is sent.
  case muted
  /// The microphone is sent.
  case unmuted
}
