public import MediaTime
import Playout
import RTP

/// One RTP stream in both directions, without any I/O: samples and datagrams in, datagrams and
/// samples out, time as an argument.
///
/// | Verb | When |
/// |---|---|
/// | `push`, then `nextPacket` until nil | the microphone delivered |
/// | `receive` | a datagram arrived |
/// | `render` | the loudspeaker wants frames |
/// | `nextReport` | now and then; it knows when one is due |
///
/// **Thread safety:** one thread at a time. Nothing here allocates after the initialiser.
public struct VoiceStream: ~Copyable {
  /// The largest datagram that is taken or made.
  public static var maximumDatagram: Int { @_noAllocation @_noLocks get { 1_500 } }

  /// Counters and measurements.
  public private(set) var statistics = StreamStatistics()

  private let configuration: StreamConfiguration
  private let clockRate: SampleRate
  private let framesPerTick: Int

  // Sending.
  private var encoder: PayloadEncoder
  private var pending = SampleBuffer(repeating: 0, count: 16_384)
  /// Captured frames at 48 kHz that are not a whole packet yet.
  private(set) var pendingFrames = 0
  private var sequenceNumber: UInt16
  private var timestamp: RTPTimestamp
  private var isSilenceAnnounced = false
  private var marksNextPacket = true
  private var packetsAtLastReport: Int64 = 0
  private var expectedLossPercent = 0
  private var keys = TelephoneEventSender()

  // Receiving.
  private var admission = SourceAdmission()
  private var reception: ReceptionStatistics
  private var control: RTCPSession
  private(set) var voice: VoiceOutput
  private var mediaClock: MediaClock
  private var lastHeard: MonotonicInstant?
  private var heardKeys = KeyInbox()

  /// A stream that has sent and received nothing.
  ///
  /// - Parameters:
  ///   - configuration: what signalling agreed.
  ///   - pullFrames: how many frames at 48 kHz the loudspeaker takes at a time.
  /// - Throws: the codec's or the resampler's error.
  public init(_ configuration: StreamConfiguration, pullFrames: FrameCount) throws {
    let encoder = try PayloadEncoder(configuration)
    let voice = VoiceOutput(
      decoder: try PayloadDecoder(configuration),
      pullFrames: pullFrames
    )
    self.configuration = configuration
    clockRate = configuration.clockRate
    framesPerTick = SampleRate.voice.hertz / configuration.clockRate.hertz
    mediaClock = MediaClock(framesPerTick: framesPerTick)
    sequenceNumber = UInt16(truncatingIfNeeded: configuration.seed)
    timestamp = configuration.firstTimestamp
    reception = ReceptionStatistics(clockRate: configuration.clockRate)
    control = RTCPSession(localSSRC: configuration.ssrc, seed: configuration.seed)
    statistics.lookAheadNanoseconds = SampleRate.voice.nanoseconds(of: encoder.lookAhead)
    self.encoder = encoder
    self.voice = voice
  }

  // MARK: Sending

  /// The duration of a packet.
  var packetNanoseconds: Int64 { SampleRate.voice.nanoseconds(of: configuration.packetFrames) }

  /// Takes in the first `count` captured frames of `samples`, at 48 kHz; `isMuted` sends silence in their place.
  @_noAllocation @_noLocks
  public mutating func push(
    _ samples: borrowing SampleBuffer,
    count pushed: FrameCount,
    isMuted: Bool
  ) {
    guard configuration.maySend else { return skip(pushed) }
    let count = min(pushed, pending.count - pendingFrames)
    if isMuted {
      pending.fill(0, from: pendingFrames, count: count)
    } else {
      pending.copy(from: samples, to: pendingFrames, count: count)
    }
    pendingFrames += count
    // More than a third of a second at once: what does not fit is a gap of known length.
    if count < pushed { skip(pushed - count) }
  }

  /// Moves the media time on over `frames` at 48 kHz that a capture fault swallowed.
  @_noAllocation @_noLocks
  public mutating func skip(_ frames: FrameCount) {
    timestamp = timestamp.advanced(by: frames / framesPerTick)
    marksNextPacket = true
  }

  /// Writes the next RTP packet to `datagram`, of which `maximumDatagram` bytes are needed, and
  /// returns its length; nil when no whole packet is pending.
  @_noAllocation @_noLocks
  public mutating func nextPacket(into datagram: inout ByteBuffer) -> Int? {
    while pendingFrames >= configuration.packetFrames {
      switch keys.next(
        frames: configuration.packetFrames,
        at: timestamp,
        framesPerTick: framesPerTick
      ) {
      case .voice:
        break
      case .nothing:
        dropPending()
        continue
      case .event(let event, let began, let isFirst):
        dropPending()
        return write(event, began: began, isFirst: isFirst, to: &datagram)
      }
      let payloadLength = encodePending(into: &datagram)
      let packetTimestamp = timestamp
      timestamp = timestamp.advanced(by: configuration.packetFrames / framesPerTick)
      // The first packet of a silence tells of it, the rest of it is not sent (RFC 7587 3.1.3).
      let isSilence = framesPerTick == 1 && payloadLength <= 2
      if payloadLength == 0 || isSilence && isSilenceAnnounced { continue }

      writeHeader(
        to: &datagram,
        configuration.sendPayloadType,
        at: packetTimestamp,
        isMarked: marksNextPacket
      )
      isSilenceAnnounced = isSilence
      marksNextPacket = isSilence
      statistics.packetsSent += 1
      statistics.bytesSent += Int64(payloadLength)
      return RTPHeader.minimumLength + payloadLength
    }
    return nil
  }

  @_noAllocation @_noLocks
  private mutating func encodePending(into datagram: inout ByteBuffer) -> Int {
    let frames = configuration.packetFrames
    let length = encoder.encode(
      pending,
      frames: frames,
      into: &datagram,
      at: RTPHeader.minimumLength
    )
    removePending()
    return length
  }

  @_noAllocation @_noLocks
  private mutating func removePending() {
    let frames = configuration.packetFrames
    pending.move(from: frames, to: 0, count: pendingFrames - frames)
    pendingFrames -= frames
  }

  @_noAllocation @_noLocks
  private mutating func dropPending() {
    removePending()
    timestamp = timestamp.advanced(by: configuration.packetFrames / framesPerTick)
    marksNextPacket = true
  }

  @_noAllocation @_noLocks
  private mutating func write(
    _ event: TelephoneEvent,
    began: RTPTimestamp,
    isFirst: Bool,
    to datagram: inout ByteBuffer
  ) -> Int {
    writeHeader(
      to: &datagram,
      configuration.sendEventPayloadType ?? 0,
      at: began,
      isMarked: isFirst
    )
    event.write(to: &datagram, at: RTPHeader.minimumLength)
    statistics.packetsSent += 1
    statistics.bytesSent += Int64(TelephoneEvent.length)
    return RTPHeader.minimumLength + TelephoneEvent.length
  }

  @_noAllocation @_noLocks
  private mutating func writeHeader(
    to datagram: inout ByteBuffer,
    _ payloadType: UInt8,
    at timestamp: RTPTimestamp,
    isMarked: Bool
  ) {
    let header = RTPHeader(
      marker: isMarked,
      payloadType: payloadType,
      sequenceNumber: sequenceNumber,
      timestamp: timestamp,
      ssrc: configuration.ssrc
    )
    header.write(to: &datagram)
    sequenceNumber &+= 1
  }

  /// Sends a key, coded as in RFC 4733, after those that wait; false if the far side takes none, or too
  /// many wait.
  @_noAllocation @_noLocks
  public mutating func press(_ code: UInt8) -> Bool {
    configuration.sendEventPayloadType != nil && keys.press(code)
  }

  /// Changes the Opus bit rate.
  @_noAllocation @_noLocks
  public mutating func setBitrate(_ bitsPerSecond: Int) {
    encoder.setBitrate(bitsPerSecond)
  }

  /// Writes a compound RTCP packet to `datagram` if one is due, or a last one with a goodbye.
  @_noAllocation @_noLocks
  public mutating func nextReport(
    into datagram: inout ByteBuffer,
    at now: MonotonicInstant,
    wallNanoseconds: Int64,
    isGoodbye: Bool
  ) -> Int? {
    guard control.takeReportDue(at: now) || isGoodbye else { return nil }
    var sender: RTCPSenderInformation?
    if statistics.packetsSent > packetsAtLastReport {
      packetsAtLastReport = statistics.packetsSent
      sender = RTCPSenderInformation(
        ntpTime: RTCPSession.ntpTime(wallNanoseconds: wallNanoseconds),
        timestamp: timestamp.advanced(by: pendingFrames / framesPerTick),
        packetCount: UInt32(truncatingIfNeeded: statistics.packetsSent),
        octetCount: UInt32(truncatingIfNeeded: statistics.bytesSent)
      )
    }
    var block: RTCPReportBlock?
    if let ssrc = admission.ssrc {
      block = control.reportBlock(on: ssrc, statistics: &reception, at: now)
    }
    return RTCPWriter.write(
      to: &datagram,
      ssrc: configuration.ssrc,
      sender: sender,
      block: block,
      canonicalName: configuration.seed,
      isGoodbye: isGoodbye
    )
  }

  // MARK: Receiving

  /// Takes in the first `length` bytes of `datagram`, RTP or RTCP, which came at `arrival`.
  @_noAllocation @_noLocks
  public mutating func receive(
    _ datagram: borrowing ByteBuffer,
    length: Int,
    at arrival: ArrivalTime
  ) {
    guard length >= 2, length <= datagram.count else { return }
    if RTCPPacketType.isRTCP(secondByte: datagram[1]) {
      receiveControl(datagram, length: length, at: arrival)
    } else {
      receiveMedia(datagram, length: length, at: arrival)
    }
  }

  /// True if nothing was received yet and the datagram is RTP of the agreed payload type.
  @_noAllocation @_noLocks
  public func wouldBegin(with datagram: borrowing ByteBuffer, length: Int) -> Bool {
    if admission.ssrc != nil { return false }
    guard let packet = RTPPacket(parsing: datagram, length: length) else { return false }
    return packet.header.payloadType == configuration.receivePayloadType && packet.payloadLength > 0
  }

  @_noAllocation @_noLocks
  private mutating func receiveControl(
    _ datagram: borrowing ByteBuffer,
    length: Int,
    at arrival: ArrivalTime
  ) {
    var reader = RTCPReader()
    while let item = reader.next(in: datagram, length: length) {
      control.receive(
        item,
        from: admission.ssrc,
        at: arrival.instant,
        wallNanoseconds: arrival.wallNanoseconds
      )
      heard(at: arrival.instant)
      if case .report(_, let block) = item, block.ssrc == configuration.ssrc {
        adapt(toFractionLost: Int(block.fractionLost))
      }
    }
  }

  // In-band redundancy is paid for in quality, so it follows the loss that the far side sees.
  @_noAllocation @_noLocks
  private mutating func adapt(toFractionLost fraction: Int) {
    statistics.farFractionLost = fraction
    guard configuration.usesRedundancy else { return }
    let percent = min(25, (fraction * 100 + 255) / 256)
    let smoothed = percent > expectedLossPercent ? percent : (expectedLossPercent + percent) / 2
    guard smoothed != expectedLossPercent else { return }
    expectedLossPercent = smoothed
    encoder.setExpectedLoss(percent: smoothed)
  }

  @_noAllocation @_noLocks
  private mutating func receiveMedia(
    _ datagram: borrowing ByteBuffer,
    length: Int,
    at arrival: ArrivalTime
  ) {
    guard let packet = RTPPacket(parsing: datagram, length: length) else { return }
    let header = packet.header
    let isOurs = header.payloadType == configuration.receivePayloadType
    let isKey = configuration.receiveEventPayloadType.map { $0 == header.payloadType } ?? false
    // Comfort noise and keep-alives of the source count as heard, but start nothing.
    guard isOurs || isKey || header.ssrc == admission.ssrc else { return }

    let sequence: Int64
    switch admission.judge(ssrc: header.ssrc, sequenceNumber: header.sequenceNumber) {
    case .refuse:
      return
    case .restart(let first):
      sequence = first
      reception.begin(at: first)
      voice.restart()
      mediaClock.restart()
      heardKeys.restart()
    case .member(let extended):
      sequence = extended
    }
    reception.receive(sequence: sequence, timestamp: header.timestamp, at: arrival.instant)
    heard(at: arrival.instant)

    if isKey { return heardKeys.receive(packet, in: datagram) }
    guard isOurs else { return }
    voice.insert(
      datagram,
      payload: packet.payloadOffset..<packet.payloadOffset + packet.payloadLength,
      sequence: sequence,
      mediaFrame: mediaClock.frame(at: header.timestamp),
      at: arrival.playback
    )
  }

  /// Takes the code of the next key that the far side pressed.
  @_noAllocation @_noLocks public mutating func takeKey() -> UInt8? { heardKeys.take() }

  @_noAllocation @_noLocks
  private mutating func heard(at instant: MonotonicInstant) {
    lastHeard = instant
    statistics.refusals = 0
  }

  /// Notes that the far side's host refused a packet.
  @_noAllocation @_noLocks
  public mutating func noteRefusal() {
    statistics.refusals += 1
  }

  // MARK: Playing

  /// Adds what the far side said to the `count` frames of `output`, at 48 kHz, that will sound next; `now`
  /// is the loudspeaker's time.
  @_noAllocation @_noLocks
  public mutating func render(
    addingTo output: inout SampleBuffer,
    count: FrameCount,
    at now: MonotonicInstant
  ) {
    voice.render(addingTo: &output, count: count, at: now)
    statistics.outputPeak = max(statistics.outputPeak, output.peak(count: count))
  }

  /// Where the playout stands, nil before the first packet and while a loss or a silence is bridged.
  public var playout: PlayoutPosition? {
    guard let frame = voice.jitterBuffer.expectedFrame,
      let timestamp = mediaClock.timestamp(of: frame)
    else { return nil }
    return PlayoutPosition(timestamp: timestamp, queuedFrames: voice.queuedFrames)
  }

  // MARK: Reporting

  /// Brings `statistics` up to `now`, returns them and starts the next interval of the levels.
  @_noAllocation @_noLocks
  public mutating func takeStatistics(at now: MonotonicInstant) -> StreamStatistics {
    statistics.note(reception, clockRate: clockRate)
    statistics.note(voice)
    statistics.roundTripNanoseconds = control.roundTripNanoseconds ?? -1
    statistics.isFarGone = control.isFarGone
    if let lastHeard {
      statistics.silenceNanoseconds = max(0, now.nanoseconds(since: lastHeard))
    } else {
      lastHeard = now
    }
    let taken = statistics
    statistics.outputPeak = 0
    return taken
  }
}
