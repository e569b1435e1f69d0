package import MediaCore
package import RealTime

/// The voice loop of one call without its thread: its owner runs each iteration, at any time.
///
/// It is what a `VoiceEngine` runs, over a device, a transport and a time that a simulation makes
/// up. None of the three may call it back.
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
  /// The newest statistics of the stream, nil before the first tenth of a second; the level in it
  /// is that of the turn of its report, and 0 in the turns after that.
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
    var replacements = RingProducer<LentObject<DeviceReplacement<Device>>>(capacity: 2)
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
      replacements: replacements.makeConsumer(),
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

  /// Does what the voice thread does each time it wakes: capture, send, receive, play, or what is
  /// due in mid-cycle.
  package func turn() {
    loop.turn()
    if let report = reports.read() { engineStatistics = report }
    statistics = streams.statistics(of: stream)
    while stageTimes?.read() != nil {}
  }

  /// When the loop wants to be turned next, whether or not the microphone has something by then.
  package var nextTurn: MonotonicInstant? { loop.nextTurn }

  /// Goes on with `sides` of another device, which it starts.
  ///
  /// Throws the device's error, and then nothing has changed.
  package func replace(_ sides: StreamDirections, with device: consuming Device) throws {
    loop.replace(try DeviceReplacement(sides, with: device))
  }

  /// How far the encoder looks ahead, in nanoseconds.
  package var lookAheadNanoseconds: Int64 { box.stream.statistics.lookAheadNanoseconds }

  /// Where the playout stands, nil before the first packet and while a loss is concealed.
  package var playout: PlayoutPosition? { box.stream.playout }
}
