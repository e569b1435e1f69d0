package import MediaCore
package import RealTime
package import SpeechDSP

/// Voice loop of one call without a thread: its owner runs each iteration, at any time.
///
/// It is the loop of a `VoiceEngine`, with a device, a transport and a time that a simulation
/// provides. None of the three may call it back.
///
/// **Thread safety:** one thread at a time.
package final class ManualVoiceLoop<
  Device: AudioDevice & ~Copyable,
  Transport: PacketTransport & ~Copyable,
  Time: TimeSource
> {
  private let loop: VoiceLoop<Device, Transport, Time>
  private let streams: VoiceStreams<Transport>
  private let stream: StreamID
  private let box: StreamBox<Transport>
  private var reports: TripleBufferReader<EngineStatistics>
  private var stageTimes: RingConsumer<StageTime>?

  /// The newest statistics of the device side, nil before the first tenth of a second.
  package private(set) var engineStatistics: EngineStatistics?
  /// Newest statistics of the stream, nil before the first tenth of a second.
  ///
  /// The level in them is the highest since the report before.
  package private(set) var statistics: StreamStatistics?

  /// Starts `device`, with one stream over `transport`.
  ///
  /// Throws the device's error, a codec's or the system's.
  package init(
    _ configuration: StreamConfiguration,
    device: consuming Device,
    transport: consuming Transport,
    settings: EngineSettings,
    time: Time
  ) throws {
    var changes = RingProducer<DeviceChange<Device>>(capacity: 2)
    var reports = TripleBufferWriter<EngineStatistics>()
    var stageTimes: RingProducer<StageTime>?
    if settings.trace != .off { stageTimes = RingProducer(capacity: 4_096) }
    let stageReader = stageTimes?.makeConsumer()
    let reportReader = reports.makeReader()
    let signals = try LoopSignals()
    let streams = VoiceStreams<Transport>(signals)
    let loop = try VoiceLoop<Device, Transport, Time>(
      device: device,
      settings: settings,
      time: time,
      signals: signals,
      streams: streams.makeTable(),
      changes: changes.makeConsumer(),
      reports: reports,
      monitor: LoopMonitor(settings, capture: nil, playback: nil),
      stageTimes: stageTimes
    )
    let stream = try streams.attach(configuration, over: transport)
    guard let box = streams.box(of: stream) else { preconditionFailure("attached just now") }
    try loop.startDevice()
    loop.discardStaleCapture()
    loop.obey()
    self.loop = loop
    self.streams = streams
    self.stream = stream
    self.box = box
    self.reports = reportReader
    self.stageTimes = stageReader
  }

  /// Runs one iteration of the voice thread: capture, send, receive, play, or the errand due in
  /// mid-cycle.
  package func turn() {
    loop.turn()
    if let report = reports.read() { engineStatistics = report }
    statistics = streams.statistics(of: stream)
    while stageTimes?.read() != nil {}
  }

  /// Time of the next turn that the loop needs, even if the microphone has no frames by then; nil
  /// for none.
  package var nextTurn: MonotonicInstant? { loop.nextTurn }

  /// Replaces `sides` with those of another device, which it starts.
  ///
  /// Throws the device's error, and then nothing has changed.
  package func replace(_ sides: StreamDirections, with device: consuming Device) throws {
    loop.replace(try DeviceReplacement(sides, with: device))
  }

  /// Replaces the microphone's filters.
  ///
  /// Throws SpeexDSP's error, and then nothing has changed.
  package func setFilters(_ settings: SpeechFilterSettings) throws {
    loop.replaceFilter(try FilterReplacement(settings))
  }

  /// Algorithmic delay of the codec, encoder and decoder, in nanoseconds.
  package var lookAheadNanoseconds: Int64 { box.stream.statistics.lookAheadNanoseconds }

  /// Position of the playout; nil before the first packet and while a loss or a silence is filled.
  package var playout: PlayoutPosition? { box.stream.playout }
}
