package import DeviceTiming
package import MediaCore
import RTP
package import RealTime
import Synchronization

/// Identifier of a stream, unique among all engines of the process.
public struct StreamID: Hashable, Sendable, BitwiseCopyable {
  private static let count = Atomic<Int>(0)

  let rawValue: Int

  /// Returns a number that was not returned before.
  static func next() -> Int {
    count.add(1, ordering: .relaxed).newValue
  }
}

/// A stream with its transport, as the voice loop holds it.
///
/// **Ownership:** `VoiceStreams` keeps the reference; the loop borrows it between `attach` and the
/// moment it has written its number to the ring `released`, so that the last reference never ends
/// on the voice thread.
package final class StreamBox<Transport: PacketTransport & ~Copyable> {
  package var isMuted = false
  private var reports: TripleBufferWriter<StreamStatistics>
  private var digits: RingProducer<UInt8>
  /// Conference of the stream, whose members hear each other; 0 for none.
  var conference = 0
  var bridge = ConferenceBridge()
  /// Tap of the stream's recording; `none` while there is no recording.
  var tap = LentObject<RecordingTap>.none

  /// Source that the stream sends as, shared with streams before it; `none` if it has one of its
  /// own.
  private let source: LentObject<SendingSource>
  /// False while the former stream of the source still sends.
  private var hasSource: Bool

  private let ssrc: UInt32
  private var outputPeak = PeakHold()
  // SAFETY: one thread owns the box, and neither of these calls back into it. The generic one is
  // last, as in `VoiceLoop`.
  @safe @exclusivity(unchecked) package var stream: VoiceStream
  @safe @exclusivity(unchecked) var transport: Transport

  init(
    stream: consuming VoiceStream,
    ssrc: UInt32,
    source: LentObject<SendingSource>,
    transport: consuming Transport,
    reports: consuming TripleBufferWriter<StreamStatistics>,
    digits: consuming RingProducer<UInt8>
  ) {
    self.stream = stream
    self.ssrc = ssrc
    self.source = source
    hasSource = source.isNone
    self.transport = transport
    self.reports = reports
    self.digits = digits
  }

  /// Takes the source once the stream before it has ended, and continues from there.
  func takeSource(at now: MonotonicInstant) {
    guard !hasSource else { return }
    source.use { source in
      // One that has ended meanwhile leaves nothing to go on from.
      hasSource =
        source.isEnded
        || source.take { position in
          if let position { stream.resume(from: position, at: now) }
        }
    }
  }

  /// Hands the source to the stream that follows, or ends it.
  func leaveSource(at now: MonotonicInstant, isLast: Bool) {
    guard hasSource else { return }
    source.use { $0.leave(at: stream.position(at: now), isLast: isLast) }
  }

  /// Sends every complete packet.
  package func send(_ datagram: inout ByteBuffer) {
    while let length = stream.nextPacket(into: &datagram) {
      guard hasSource else { continue }
      transport.send(datagram, length: length, isControl: false)
    }
  }

  /// Sends every complete packet, as `send(_:)` does, and traces the times.
  ///
  /// Encoding is timed from `begin` on, which is set to the time of the last send. The age of the
  /// packet's last sample is traced as well.
  func send(
    _ datagram: inout ByteBuffer,
    of block: CapturedBlock,
    from begin: inout MonotonicInstant,
    tracing trace: inout StageTrace?,
    by time: some TimeSource
  ) {
    while let length = stream.nextPacket(into: &datagram) {
      guard hasSource else { continue }
      let encoded = time.now
      transport.send(datagram, length: length, isControl: false)
      let sent = time.now
      trace?.noteSending(datagram, at: sent)
      trace?.note(.packet, stream.packetNanoseconds)
      let later = SampleRate.voice.nanoseconds(of: stream.pendingFrames)
      trace?.note(.capture, block.age + later)
      trace?.note(.processing, block.processed.nanoseconds(since: block.read))
      trace?.note(.encode, encoded.nanoseconds(since: begin))
      trace?.note(.send, sent.nanoseconds(since: encoded))
      begin = sent
    }
  }

  /// Sends an RTCP report if one is due, or, if `isLast`, the last one with a BYE.
  func report(_ datagram: inout ByteBuffer, at now: MonotonicInstant, wall: Int64, isLast: Bool) {
    let length = stream.nextReport(
      into: &datagram,
      at: now,
      wallNanoseconds: wall,
      isGoodbye: isLast
    )
    guard let length, hasSource else { return }
    transport.send(datagram, length: length, isControl: true)
  }

  /// Publishes the statistics of the stream to `VoiceStreams`.
  func publish(at now: MonotonicInstant) {
    var statistics = stream.takeStatistics(at: now)
    outputPeak.note(statistics.outputPeak)
    statistics.outputPeak = outputPeak.take(isRead: reports.isRead)
    reports.write(statistics)
  }

  // True if the stream receives its own packets, as in a loopback call.
  private func isOwn(_ datagram: borrowing ByteBuffer, length: Int) -> Bool {
    guard let packet = RTPPacket(parsing: datagram, length: length) else { return false }
    return packet.header.ssrc == ssrc
  }

  /// Adds the far side's sound to `output` as `VoiceStream.render` does, and traces its times.
  ///
  /// These are the times that decoded packets had waited, and will wait behind `fillNanoseconds` of
  /// sound.
  func render(
    addingTo output: inout SampleBuffer,
    count: FrameCount,
    at now: MonotonicInstant,
    fillNanoseconds: Int64,
    tracing trace: inout StageTrace?,
    by time: some TimeSource
  ) {
    guard trace != nil else {
      return stream.render(addingTo: &output, count: count, at: now)
    }
    let begin = time.now
    stream.render(addingTo: &output, count: count, at: now)
    let taken = time.now.nanoseconds(since: begin)
    let decoded = stream.voice.decodes.count
    for index in 0..<decoded {
      trace?.note(.playout, stream.voice.decodes.wait(index))
      trace?.note(.decode, taken / Int64(decoded))
      let ahead = stream.voice.decodes.queuedFrames(index)
      trace?.note(.queue, SampleRate.voice.nanoseconds(of: ahead))
      trace?.note(.fill, fillNanoseconds)
    }
  }

  /// Passes on the DTMF digits received from the far side, and signals that there are some.
  package func passDigitsOn(_ signals: LoopSignals) {
    while let digit = stream.takeDigit() {
      // 64 digits that were not read are enough: a later one is dropped.
      _ = digits.write(digit)
      signals.digitNews.signal()
    }
  }

  // True if the datagram is the far side's.
  private func admits(_ arrival: Arrival, _ datagram: borrowing ByteBuffer) -> Bool {
    let verdict = stream.judge(
      datagram,
      length: arrival.length,
      from: arrival.origin,
      at: arrival.instant
    )
    switch verdict {
    case .accept:
      return true
    case .acceptAndAdmit:
      transport.admitLastSource()
      return true
    case .acceptAndFollow:
      transport.followLastSource()
      return true
    case .acceptAgreedAlone:
      transport.forgetAdmitted()
      return true
    case .refuse:
      return false
    }
  }

  /// Processes the datagrams that have arrived, about a second's worth (512) at most.
  package func receive(
    _ datagram: inout ByteBuffer,
    at now: MonotonicInstant,
    playback: DeviceClock
  ) {
    var nothing: StageTrace?
    receive(&datagram, at: now, playback: playback, tracing: &nothing)
  }

  /// Processes the datagrams that have arrived, and traces the time that packets were on the
  /// network.
  func receive(
    _ datagram: inout ByteBuffer,
    at now: MonotonicInstant,
    playback: DeviceClock,
    tracing trace: inout StageTrace?
  ) {
    for _ in 0..<512 {
      switch transport.receive(into: &datagram, at: now) {
      case .received(let arrival):
        guard admits(arrival, datagram) else { continue }
        if trace != nil, isOwn(datagram, length: arrival.length) {
          trace?.noteArrival(datagram, at: arrival.instant)
        }
        stream.receive(
          datagram,
          length: arrival.length,
          at: ArrivalTime(
            instant: arrival.instant,
            playback: playback.time(of: arrival.instant),
            wait: playback.wait(since: arrival.instant)
          )
        )
      case .refused:
        stream.noteRefusal()
      case .failed:
        continue
      case .empty:
        return
      }
    }
  }
}

// SAFETY: made by `VoiceStreams` and handed over through the command ring; from then on only the
// thread of the loop touches it, until the loop has announced the release.
extension StreamBox: @unchecked Sendable {}
