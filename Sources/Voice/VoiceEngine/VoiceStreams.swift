import MediaCore
public import RealTime
import Synchronization

/// Streams of a voice thread, as used from every other thread.
///
/// `VoiceEngine.streams` are those of a call's headset.
///
/// **Thread safety:** every method may be called from any thread except the voice thread.
/// **Ownership:** transports are consumed and belong to the voice thread, which releases them after
/// `detach`; they close with the next call of `collect` or `statistics(of:)`.
public final class VoiceStreams<Transport: PacketTransport & ~Copyable>: Sendable {
  private struct Control: ~Copyable {
    var commands = RingProducer<StreamCommand<Transport>>(capacity: 1_024)
    /// Commands that found the ring full, oldest first: none is lost, and none overtakes another.
    var backlog: [StreamCommand<Transport>] = []
    var released: RingConsumer<Int>?
    var attached: [Int: Attached] = [:]
  }

  // SAFETY: reached only through `control`, under its lock; the voice thread has the box alone.
  private final class Attached: @unchecked Sendable {
    let box: StreamBox<Transport>
    let source: SendingSource?
    var reports: TripleBufferReader<StreamStatistics>
    var digits: RingConsumer<UInt8>
    var newest: StreamStatistics?
    var recording: Recording?

    init(
      box: StreamBox<Transport>,
      source: SendingSource?,
      reports: consuming TripleBufferReader<StreamStatistics>,
      digits: consuming RingConsumer<UInt8>
    ) {
      self.box = box
      self.source = source
      self.reports = reports
      self.digits = digits
    }
  }

  // A reference, since an optional of rings cannot be changed in place.
  // SAFETY: as `Attached`.
  private final class Recording: @unchecked Sendable {
    let tap: RecordingTap
    var said: RingConsumer<Float>
    var heard: RingConsumer<Float>
    var isRunning = false

    init() {
      var said = RingProducer<Float>(capacity: RecordingTap.capacity)
      var heard = RingProducer<Float>(capacity: RecordingTap.capacity)
      self.said = said.makeConsumer()
      self.heard = heard.makeConsumer()
      tap = RecordingTap(said: said, heard: heard)
    }
  }

  private let control = Mutex(Control())
  private let signals: LoopSignals

  /// Creates a set without streams, for a loop that waits for `signals`.
  package init(_ signals: LoopSignals) { self.signals = signals }

  /// Creates the voice thread's half; call it once, before the thread starts.
  package func makeTable() -> StreamTable<Transport> {
    control.withLock { control in
      var released = RingProducer<Int>(capacity: 2 * StreamTable<Transport>.capacity)
      control.released = released.makeConsumer()
      return StreamTable(commands: control.commands.makeConsumer(), released: released)
    }
  }

  /// Forgets all streams; call it after the voice thread has ended.
  package func closeAll() {
    control.withLock { control in
      Self.collectReleased(&control)
      control.attached.removeAll()
    }
  }

  /// Starts sending and receiving over `transport`.
  ///
  /// The stream is muted from the first packet on if `state` is `.muted`, and in a conference
  /// unless `conference` is 0 (`setConference`). Throws `EngineError.tooManyStreams` beyond 256
  /// streams, or the codec's error.
  public func attach(
    _ configuration: StreamConfiguration,
    over transport: consuming Transport,
    _ state: MuteState = .unmuted,
    conference: Int = 0
  ) throws -> StreamID {
    try attach(configuration, over: transport, state, conference: conference, as: nil)
  }

  /// Starts sending and receiving over `transport` as a source that several streams share, one
  /// after the other.
  ///
  /// The SSRC and the seed of `configuration` are replaced by those of the source; the stream sends
  /// once the one before it has ended. Throws as `attach(_:over:_:conference:)` does.
  package func attach(
    _ configuration: StreamConfiguration,
    over transport: consuming Transport,
    _ state: MuteState,
    conference: Int,
    as source: SendingSource?
  ) throws -> StreamID {
    var configuration = configuration
    if let source {
      configuration.ssrc = source.ssrc
      configuration.seed = source.seed
    }
    let stream = try VoiceStream(configuration)
    var reports = TripleBufferWriter<StreamStatistics>()
    let reader = reports.makeReader()
    var digits = RingProducer<UInt8>(capacity: 64)
    let digitReader = digits.makeConsumer()
    let box = StreamBox(
      stream: stream,
      ssrc: configuration.ssrc,
      source: source.map { LentObject($0) } ?? .none,
      transport: transport,
      reports: reports,
      digits: digits
    )
    // Before the voice thread has it: not a word of a muted user is sent.
    box.isMuted = state == .muted
    box.conference = conference
    let attached = Attached(box: box, source: source, reports: reader, digits: digitReader)
    return try control.withLock { control in
      Self.collectReleased(&control)
      guard control.attached.count < StreamTable<Transport>.capacity else {
        throw EngineError.tooManyStreams
      }
      let id = StreamID.next()
      control.attached[id] = attached
      send(.attach(id: id, LentObject(box)), &control)
      return StreamID(rawValue: id)
    }
  }

  // The voice thread has released them: nothing else refers to their boxes.
  private static func collectReleased(_ control: inout Control) {
    while let id = control.released?.read() { control.attached[id] = nil }
  }

  /// Sends commands that found the ring full, and closes streams that the voice thread has
  /// released.
  package func collect() {
    control.withLock { control in
      flush(&control)
      Self.collectReleased(&control)
    }
  }

  /// Sends RTCP BYE on a stream and ends it.
  ///
  /// DTMF digits that it has not sent are dropped.
  public func detach(_ stream: StreamID) {
    detach(stream, isLast: true)
  }

  /// Ends a stream, with an RTCP BYE only if it is the last one of its source.
  package func detach(_ stream: StreamID, isLast: Bool) {
    send(.detach(id: stream.rawValue, isLast: isLast))
  }

  /// Ends every stream, as `detach` does.
  package func detachAll() {
    for id in control.withLock({ Array($0.attached.keys) }) { send(.detach(id: id, isLast: true)) }
  }

  /// Replaces the microphone with silence on a stream, or ends that.
  public func setMuted(_ stream: StreamID, _ state: MuteState) {
    send(.mute(id: stream.rawValue, isMuted: state == .muted))
  }

  /// Sends a DTMF digit, coded as in RFC 4733, in place of the voice for 100 ms.
  package func press(_ stream: StreamID, code: UInt8) {
    send(.press(id: stream.rawValue, code: code))
  }

  /// Event that is signalled when `takeDigits` of any stream may return new digits.
  package var digitNews: WakeEvent { signals.digitNews }

  /// Returns the codes of the DTMF digits received from the far side since the last call.
  package func takeDigits(of stream: StreamID) -> [UInt8] {
    control.withLock { control in
      var codes: [UInt8] = []
      control.attached[stream.rawValue]?.digits.drain(into: &codes)
      return codes
    }
  }

  /// Moves a stream to a conference, whose streams hear each other, mixed here; 0 takes it out of
  /// its conference.
  package func setConference(_ stream: StreamID, _ conference: Int) {
    send(.setConference(id: stream.rawValue, conference: conference))
  }

  /// Starts or ends the recording of a stream.
  ///
  /// While it is recorded, the far side hears a tone of 1,400 Hz for 200 ms each 15 s.
  package func setRecording(_ stream: StreamID, _ isRecording: Bool) {
    control.withLock { control in
      guard let attached = control.attached[stream.rawValue],
        isRecording != (attached.recording?.isRunning ?? false)
      else { return }
      // It stays for as long as the voice thread may have it.
      let recording = attached.recording ?? Recording()
      attached.recording = recording
      recording.isRunning = isRecording
      let tap = isRecording ? LentObject(recording.tap) : .none
      send(.record(id: stream.rawValue, tap), &control)
    }
  }

  /// Returns the sound of a stream recorded since the last call.
  ///
  /// Call it at least each ten seconds, or the rest is lost.
  package func takeRecording(of stream: StreamID) -> RecordedSound {
    control.withLock { control in
      var sound = RecordedSound()
      guard let recording = control.attached[stream.rawValue]?.recording else { return sound }
      recording.said.drain(into: &sound.said)
      recording.heard.drain(into: &sound.heard)
      return sound
    }
  }

  /// Returns the newest statistics of a stream, nil before the first tenth of a second and after
  /// its end.
  ///
  /// They are updated each tenth of a second. The levels in them are the highest since the last
  /// ones were read.
  package func statistics(of stream: StreamID) -> StreamStatistics? {
    control.withLock { control in
      flush(&control)
      Self.collectReleased(&control)
      guard let attached = control.attached[stream.rawValue] else { return nil }
      // Who asks a moment after someone else gets the same.
      if let report = attached.reports.read() { attached.newest = report }
      return attached.newest
    }
  }

  /// Returns the box of a stream, for a caller that turns the loop by hand.
  func box(of stream: StreamID) -> StreamBox<Transport>? {
    control.withLock { $0.attached[stream.rawValue]?.box }
  }

  private func send(_ command: StreamCommand<Transport>) {
    control.withLock { send(command, &$0) }
  }

  private func send(_ command: StreamCommand<Transport>, _ control: inout Control) {
    control.backlog.append(command)
    flush(&control)
  }

  // The ring is full only while the voice thread stands still; the next command, `collect` and
  // `statistics(of:)` try again.
  private func flush(_ control: inout Control) {
    guard !control.backlog.isEmpty else { return }
    var taken = 0
    while taken < control.backlog.count, control.commands.write(control.backlog[taken]) {
      taken += 1
    }
    control.backlog.removeFirst(taken)
    signals.wakeUp.signal()
  }
}

/// Sound of both sides of a call at 48 kHz.
package struct RecordedSound: Equatable, Sendable {
  /// The user's sound, as it was sent.
  package var said: [Float] = []
  /// The far side's sound, as it was played.
  package var heard: [Float] = []

  /// Creates an empty sound.
  package init() {}

  /// Appends sound that follows.
  package mutating func append(_ other: RecordedSound) {
    said += other.said
    heard += other.heard
  }
}

/// An error of an engine.
public enum EngineError: Error, Equatable, Sendable {
  /// The engine has 256 streams already.
  case tooManyStreams
}

/// State of a stream's microphone.
public enum MuteState: Equatable, Sendable {
  /// Silence is sent in place of the microphone.
  case muted
  /// The microphone's sound is sent.
  case unmuted
}
