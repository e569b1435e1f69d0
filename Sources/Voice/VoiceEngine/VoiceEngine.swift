import CLinux
import MediaCore
public import RealTime
package import SpeechDSP
import Synchronization

/// Device and the streams that use it, on one voice thread.
///
/// **Life cycle:** the initialiser starts the device and the thread; `stop` ends both and releases
/// the device, streams and sockets, and is called at the latest by `deinit`.
/// **Thread safety:** every method may be called from any thread except the voice thread.
/// **Ownership:** device and transports are consumed and belong to the voice thread.
public final class VoiceEngine<
  Device: AudioDevice & ~Copyable,
  Transport: PacketTransport & ~Copyable
>: Sendable {
  /// Sound captured and played at 48 kHz since the last call of `takeMonitor`.
  public struct Monitor: Equatable, Sendable {
    /// Samples after the capture filters.
    package var captured: [Float]
    /// Samples of the far side before the loudspeaker's rate conversion.
    package var played: [Float]
  }

  private typealias Loop = VoiceLoop<Device, Transport, SystemTime>
  private typealias Change = DeviceChange<Device>

  /// Replacements of device sides and filters that the voice thread may hold.
  private final class LentReplacements: Sendable {
    private struct State {
      var all: [any AnyObject & Sendable] = []
      var isClosed = false
    }

    private let state = Mutex(State())

    /// Keeps `replacement`, unless the voice thread has ended.
    func append(_ replacement: some AnyObject & Sendable) {
      state.withLock { if !$0.isClosed { $0.all.append(replacement) } }
    }

    /// Removes `replacement`, which the caller still holds: its contents are closed outside the
    /// lock, since that may take a second.
    func remove(_ replacement: some AnyObject & Sendable) {
      state.withLock { $0.all.removeAll { $0 === replacement } }
    }

    /// Releases all replacements, and keeps none from now on.
    func close() {
      let all = state.withLock { state in
        state.isClosed = true
        return Swift.exchange(&state.all, with: [])
      }
      withExtendedLifetime(all) {}
    }
  }

  private struct Control: ~Copyable {
    var reports: TripleBufferReader<EngineStatistics>
    var changesToSend: RingProducer<Change>
    var monitorCapture: RingConsumer<Float>?
    var monitorPlayback: RingConsumer<Float>?
    var stageTimes: RingConsumer<StageTime>?
    /// The newest report, with the highest level that `statistics` has not returned.
    var newest: EngineStatistics?

    /// Takes in the report that has come since the last call, if any.
    mutating func readReport() {
      guard var report = reports.read() else { return }
      report.inputPeak = max(report.inputPeak, newest?.inputPeak ?? 0)
      newest = report
    }
  }

  /// Streams that talk through the device.
  public let streams: VoiceStreams<Transport>

  private let control: Mutex<Control>
  private let signals: LoopSignals
  private let thread: LoopThread
  private let lent = LentReplacements()

  /// Starts a voice thread without streams, which starts `device`, and waits until that is done.
  ///
  /// - Parameters:
  ///   - device: the microphone and the loudspeaker.
  ///   - settings: the filters and measurements.
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

    let streams = VoiceStreams<Transport>(signals)
    var changes = RingProducer<Change>(capacity: 64)
    let changeReader = changes.makeConsumer()
    var reports = TripleBufferWriter<EngineStatistics>()
    var monitorCapture: RingProducer<Float>?
    var monitorPlayback: RingProducer<Float>?
    if settings.measurement != .off {
      monitorCapture = RingProducer(capacity: 480_000)
      monitorPlayback = RingProducer(capacity: 480_000)
    }
    var stageTimes: RingProducer<StageTime>?
    if settings.trace != .off { stageTimes = RingProducer(capacity: 65_536) }
    let control = Control(
      reports: reports.makeReader(),
      changesToSend: changes,
      monitorCapture: monitorCapture?.makeConsumer(),
      monitorPlayback: monitorPlayback?.makeConsumer(),
      stageTimes: stageTimes?.makeConsumer()
    )
    let loop = try Loop(
      device: device,
      settings: settings,
      time: SystemTime(),
      signals: signals,
      streams: streams.makeTable(),
      changes: changeReader,
      reports: reports,
      monitor: LoopMonitor(settings, capture: monitorCapture, playback: monitorPlayback),
      stageTimes: stageTimes
    )
    self.streams = streams
    self.control = Mutex(control)
    self.signals = signals

    let start = try DeviceStart()
    thread = try LoopThread(signals, name: "voice", onDenial: onDenial) {
      if start.perform(loop.startDevice) { loop.run() }
    }
    if let error = start.wait() { throw error }
  }

  deinit {
    stop()
  }

  /// Scheduling that the system has granted the voice thread; `pending` until it has begun and
  /// after `stop`.
  package var scheduling: RealTimeThread.Scheduling {
    thread.scheduling
  }

  /// Ends the voice thread, which sends an RTCP BYE on every stream, and releases device and
  /// sockets.
  ///
  /// Blocks for a few milliseconds, or for two seconds if the device hangs: then they are released
  /// once it answers. Later calls do nothing.
  package func stop() {
    thread.stop { [streams, lent] in
      streams.closeAll()
      lent.close()
    }
  }

  // MARK: Devices

  /// Sides that are gone, or have stalled for a second, and were not replaced.
  package var goneSides: StreamDirections { signals.goneSides }

  /// Replaces `sides` with those of another device, which it starts; the replaced ones are closed.
  ///
  /// Blocks until that is done. Streams continue: the frames that the microphone misses are a gap
  /// of known length. Throws the device's error, and then nothing has changed.
  package func replace(_ sides: StreamDirections, with device: consuming Device) throws {
    let replacement = try DeviceReplacement(sides, with: device)
    exchange(replacement, by: .sides(LentObject(replacement)), until: replacement.done)
  }

  /// Replaces the microphone's filters; streams go on, and samples that wait for a block are kept.
  ///
  /// Blocks until that is done, at most two seconds: a voice thread that hangs in a device takes
  /// them later. Throws SpeexDSP's error or the system's, and then nothing has changed.
  ///
  /// - Returns: true if the filters are in use now.
  package func setFilters(_ settings: SpeechFilterSettings) throws -> Bool {
    let replacement = try FilterReplacement(settings)
    return exchange(
      replacement,
      by: .filter(LentObject(replacement)),
      until: replacement.done,
      mostRounds: Self.filterRounds
    )
  }

  private static var filterRounds: Int { 20 }

  // Rounds are of a tenth of a second each. What is given up stays lent until the thread has ended.
  @discardableResult
  private func exchange(
    _ replacement: some AnyObject & Sendable,
    by change: Change,
    until done: WakeEvent,
    mostRounds: Int = .max
  ) -> Bool {
    let isTaken = control.withLock { control in
      guard thread.isRunning else { return false }
      // Each thread that replaces waits for it: there is room for 64 of them.
      let hasRoom = control.changesToSend.write(change)
      precondition(hasRoom, "the ring of replacements is full")
      lent.append(replacement)
      signals.wakeUp.signal()
      return true
    }
    guard isTaken else { return false }
    var rounds = 0
    var descriptor = pollfd(fd: done.descriptor, events: Int16(POLLIN), revents: 0)
    // The voice thread answers within a period; one that has ended does not.
    while unsafe poll(&descriptor, 1, Self.replacementMilliseconds) <= 0 {
      rounds += 1
      guard thread.isRunning, rounds < mostRounds else { return false }
    }
    lent.remove(replacement)
    return true
  }

  private static var replacementMilliseconds: CInt { 100 }

  /// Replaces the microphone with silence on every stream, or ends that.
  package func setInputMuted(_ state: MuteState) {
    signals.isInputMuted.store(state == .muted, ordering: .relaxed)
  }

  // MARK: Measurements

  /// Returns the frames captured and played so far, at 48 kHz; nil before the first tenth of a
  /// second.
  ///
  /// The level that `statistics` returns next is not affected.
  package func movedFrames() -> (captured: Int64, played: Int64)? {
    control.withLock { control in
      control.readReport()
      return control.newest.map { ($0.capturedFrames, $0.playedFrames) }
    }
  }

  /// Returns the newest statistics of the device side, nil before the first tenth of a second.
  ///
  /// The level in them is the highest since the last call.
  package func statistics() -> EngineStatistics? {
    streams.collect()
    return control.withLock { control in
      control.readReport()
      defer { control.newest?.inputPeak = 0 }
      return control.newest
    }
  }

  /// Returns the times that packets spent in each stage since the last call; empty unless settings
  /// ask for them.
  ///
  /// Call it at least each five seconds for every stream: times that do not fit into the ring are
  /// dropped.
  package func takeStageTimes() -> [StageTime] {
    control.withLock { control in
      var times: [StageTime] = []
      control.stageTimes?.drain(into: &times)
      return times
    }
  }

  /// Returns the sound captured and played since the last call; empty unless settings ask for it.
  package func takeMonitor() -> Monitor {
    control.withLock { control in
      var monitor = Monitor(captured: [], played: [])
      control.monitorCapture?.drain(into: &monitor.captured)
      control.monitorPlayback?.drain(into: &monitor.played)
      return monitor
    }
  }
}
