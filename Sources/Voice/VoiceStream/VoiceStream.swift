package import MediaCore
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
/// | `nextReport` | regularly; it returns one when it is due |
///
/// **Thread safety:** one thread at a time. Nothing here allocates after the initialiser.
package struct VoiceStream: ~Copyable {
  /// Largest datagram that is received or sent, in bytes.
  package static var maximumDatagram: Int { @_noAllocation @_noLocks get { 1_500 } }

  /// Counters and measurements.
  package private(set) var statistics = StreamStatistics()

  private let configuration: StreamConfiguration
  private let clockRate: SampleRate

  var sender: VoiceSender
  private var packetsAtLastReport: Int64 = 0

  // Receiving.
  private var admission: SourceValidator
  /// True while a host other than the agreed one is admitted.
  private var hasAdmittedHost = false
  private var reception: ReceptionStatistics
  /// RTP packets received from all sources; `reception` restarts with each.
  private var packetsHeard: Int64 = 0
  private var arrivals = LossMap()
  private var control: RTCPSession
  package private(set) var voice: VoiceReceiver
  private var mediaClock: MediaClock
  private var lastReceived: MonotonicInstant?
  var digits: DigitInbox

  /// Creates a stream that has sent and received nothing.
  ///
  /// - Parameter configuration: the parameters that signalling agreed.
  /// - Throws: the codec's or the resampler's error.
  package init(_ configuration: StreamConfiguration) throws {
    let sender = try VoiceSender(configuration)
    let voice = VoiceReceiver(
      decoder: try PayloadDecoder(configuration),
      configuration.playout
    )
    self.configuration = configuration
    clockRate = configuration.clockRate
    admission = SourceValidator(areAuthentic: configuration.isAuthenticated)
    mediaClock = MediaClock(
      framesPerTick: SampleRate.voice.hertz / configuration.clockRate.hertz
    )
    digits = DigitInbox(
      ticksPerEventTick: configuration.ticksPerEventTick,
      ticksPerOther: configuration.ticks(perTickOf: configuration.otherEvent?.clockRate)
    )
    reception = ReceptionStatistics(clockRate: configuration.clockRate)
    control = RTCPSession(localSSRC: configuration.ssrc, seed: configuration.seed)
    statistics.note(sender)
    self.sender = sender
    self.voice = voice
  }

  // MARK: Sending

  /// Duration of a packet to send, in nanoseconds.
  package var packetNanoseconds: Int64 {
    SampleRate.voice.nanoseconds(of: sender.plan.packetFrames)
  }

  /// Returns true if `frames` captured frames may be sent back.
  ///
  /// An echo that sends no more packets than have arrived cannot be turned on a third party. Its
  /// packets are at least as long as the last one received, 5 to 60 ms.
  @_noAllocation @_noLocks
  package mutating func mayEcho(_ frames: FrameCount) -> Bool {
    // Not below 5 ms: a service has many calls, and an echo is no conversation.
    sender.planner.lengthenPackets(to: max(SendingPlanner.shortFrames, voice.packetFrames))
    let packets = max(1, (sender.pendingFrames + frames) / sender.plan.packetFrames)
    return sender.packetsSent + Int64(packets) <= packetsHeard
  }

  /// False while pushed frames are not sent: the stream may not send, or sends DTMF digits.
  package var sendsVoice: Bool { @_noAllocation @_noLocks get { sender.sendsVoice } }

  /// Captured frames at 48 kHz that are not a whole packet yet.
  package var pendingFrames: FrameCount { sender.pendingFrames }

  /// Takes in the first `count` captured frames of `samples`, at 48 kHz; `isMuted` sends silence in
  /// their place.
  @_noAllocation @_noLocks
  package mutating func push(
    _ samples: borrowing SampleBuffer,
    count: FrameCount,
    isMuted: Bool
  ) {
    sender.push(samples, count: count, isMuted: isMuted)
  }

  /// Advances the media time by `frames` at 48 kHz that are not sent.
  @_noAllocation @_noLocks
  package mutating func skip(_ frames: FrameCount) {
    sender.skip(frames)
  }

  /// Writes the next RTP packet to `datagram`, of which `maximumDatagram` bytes are needed, and
  /// returns its length; nil when no whole packet is pending.
  @_noAllocation @_noLocks
  package mutating func nextPacket(into datagram: inout ByteBuffer) -> Int? {
    sender.nextPacket(into: &datagram)
  }

  /// Queues a DTMF digit, coded as in RFC 4733, behind those that wait; false if the far side
  /// accepts none, or too many wait.
  @_noAllocation @_noLocks
  package mutating func press(_ code: UInt8) -> Bool {
    sender.press(code)
  }

  /// Writes a compound RTCP packet to `datagram` if one is due, or a last one with a BYE, and
  /// returns its length.
  @_noAllocation @_noLocks
  package mutating func nextReport(
    into datagram: inout ByteBuffer,
    at now: MonotonicInstant,
    wallNanoseconds: Int64,
    isGoodbye: Bool
  ) -> Int? {
    sender.planner.advance(to: now)
    guard control.takeReportDue(at: now) || isGoodbye else { return nil }
    var information: RTCPSenderInformation?
    if sender.packetsSent > packetsAtLastReport {
      packetsAtLastReport = sender.packetsSent
      information = RTCPSenderInformation(
        ntpTime: RTCPSession.ntpTime(wallNanoseconds: wallNanoseconds),
        timestamp: sender.capturedTimestamp,
        packetCount: UInt32(truncatingIfNeeded: sender.sentBySource.packets),
        octetCount: UInt32(truncatingIfNeeded: sender.sentBySource.bytes)
      )
    }
    if let information { control.noteSending(information, at: now) }
    var block: RTCPReportBlock?
    if let ssrc = admission.ssrc {
      block = control.reportBlock(on: ssrc, statistics: &reception, at: now)
    }
    return RTCPWriter.write(
      to: &datagram,
      ssrc: configuration.ssrc,
      sender: information,
      block: block,
      losses: &arrivals,
      tellsLosses: configuration.receiveRedundancyPayloadType != nil,
      canonicalName: configuration.seed,
      isGoodbye: isGoodbye
    )
  }

  // MARK: Receiving

  /// Processes the first `length` bytes of `datagram`, RTP or RTCP, which arrived at `arrival`.
  @_noAllocation @_noLocks
  package mutating func receive(
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

  /// Decides whether a datagram is the far side's, and which hosts count as such from now on.
  ///
  /// A far side may send from another host or port than it described (symmetric RTP, RFC 4961): the
  /// first one with the agreed codec is admitted, until packets come from the agreed one.
  /// `SourceValidator` decides which of the sources is played. Packets that the far side's keys
  /// authenticate are its own, wherever they come from: one that is newer than all before it shows
  /// where the far side is now, which may be another network.
  @_noAllocation @_noLocks
  package mutating func judge(
    _ datagram: borrowing ByteBuffer,
    length: Int,
    from origin: DatagramOrigin,
    at now: MonotonicInstant
  ) -> SenderVerdict {
    switch origin {
    case .agreed:
      guard hasAdmittedHost, isVoice(datagram, length: length) else { return .accept }
      hasAdmittedHost = false
      admission.keep(RTPPacket(parsing: datagram, length: length)?.header.ssrc ?? 0)
      return .acceptAgreedAlone
    case .admitted: return .accept
    case .neighbour, .foreign:
      // Its keys authenticate it, wherever it sends from.
      if configuration.isAuthenticated {
        guard configuration.followsFarSide else {
          return isVoice(datagram, length: length) ? .acceptAndAdmit : .accept
        }
        return isNewest(datagram, length: length) ? .acceptAndFollow : .accept
      }
      if case .some = admission.ssrc {
        // A gateway may send its announcements and the call itself from two ports.
        guard case .neighbour = origin, let last = lastReceived,
          now.nanoseconds(since: last) > max(100_000_000, admission.patience)
        else { return .refuse }
      }
      guard isVoice(datagram, length: length) else { return .refuse }
      hasAdmittedHost = true
      return .acceptAndAdmit
    }
  }

  // True if the datagram is RTP of the source that is heard, and newer than all that has come.
  @_noAllocation @_noLocks
  private func isNewest(_ datagram: borrowing ByteBuffer, length: Int) -> Bool {
    guard !RTCPPacketType.isRTCP(secondByte: datagram[1]),
      let packet = RTPPacket(parsing: datagram, length: length),
      packet.header.ssrc == admission.ssrc
    else { return false }
    let newest = UInt16(truncatingIfNeeded: reception.highestSequence)
    return Int16(bitPattern: packet.header.sequenceNumber &- newest) > 0
  }

  // True if the datagram is RTP of the agreed payload type.
  @_noAllocation @_noLocks
  private func isVoice(_ datagram: borrowing ByteBuffer, length: Int) -> Bool {
    guard let packet = RTPPacket(parsing: datagram, length: length) else { return false }
    let type = packet.header.payloadType
    return (isVoice(type) || isOther(type)) && packet.payloadLength > 0
  }

  @_noAllocation @_noLocks
  private func isOther(_ payloadType: UInt8) -> Bool {
    configuration.otherPayloadTypes >> UInt128(payloadType & 127) & 1 != 0
  }

  @_noAllocation @_noLocks
  private func isVoice(_ payloadType: UInt8) -> Bool {
    if payloadType == configuration.receivePayloadType { return true }
    return configuration.receiveRedundancyPayloadType.map { $0 == payloadType } ?? false
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
        at: arrival.instant
      )
      noteReception(at: arrival.instant)
      plan(by: item, datagram, at: arrival.instant)
    }
    sender.planner.decide(at: arrival.instant)
    noteDelayElsewhere()
  }

  // A packet begins to be heard after it was spoken as a whole and has come half a round trip.
  @_noAllocation @_noLocks
  private mutating func noteDelayElsewhere() {
    guard let roundTrip = sender.planner.shortestRoundTrip else { return }
    let packet = SampleRate.voice.nanoseconds(of: voice.packetFrames)
    voice.noteDelayElsewhere(packet + roundTrip / 2)
  }

  // What the far side says of our packets decides how the next ones are made.
  @_noAllocation @_noLocks
  private mutating func plan(
    by item: RTCPItem,
    _ datagram: borrowing ByteBuffer,
    at now: MonotonicInstant
  ) {
    switch item {
    case .report(_, let block) where block.ssrc == configuration.ssrc:
      statistics.farFractionLost = Int(block.fractionLost)
      sender.planner.receive(
        fractionLost: Int(block.fractionLost),
        jitterNanoseconds: Int64(block.jitter) * 1_000_000_000 / Int64(clockRate.hertz),
        roundTripNanoseconds: control.newestRoundTripNanoseconds,
        at: now
      )
    case .losses(_, let runs) where runs.ssrc == configuration.ssrc:
      sender.planner.receive(runs, in: datagram, at: now)
    case .report, .losses, .senderInformation, .goodbye:
      break
    }
  }

  @_noAllocation @_noLocks
  private mutating func receiveMedia(
    _ datagram: borrowing ByteBuffer,
    length: Int,
    at arrival: ArrivalTime
  ) {
    guard let packet = RTPPacket(parsing: datagram, length: length) else { return }
    let header = packet.header
    let isOurs = isVoice(header.payloadType)
    let isOtherDigit =
      configuration.otherEvent.map { $0.payloadType == header.payloadType } ?? false
    let isDigit =
      isOtherDigit
      || configuration.receiveEventPayloadType.map { $0 == header.payloadType } ?? false
    // Comfort noise and keep-alives of the source show that it lives, but start nothing.
    let isOther = !isOurs && isOther(header.payloadType)
    guard isOurs || isDigit || isOther || header.ssrc == admission.ssrc else { return }

    let sequence: Int64
    let verdict = admission.judge(
      ssrc: header.ssrc,
      sequenceNumber: header.sequenceNumber,
      at: arrival.instant
    )
    switch verdict {
    case .refuse:
      return
    case .restart(let first):
      sequence = first
      reception.begin(at: first)
      arrivals.begin(at: first)
      voice.restart()
      mediaClock.restart()
      digits.restart(header.ssrc)
      control.restart()
    case .member(let extended):
      sequence = extended
    }
    // All packets of a digit bear the time of its beginning, so they have no jitter.
    reception.receive(
      sequence: sequence,
      timestamp: isDigit ? nil : header.timestamp,
      at: arrival.instant
    )
    packetsHeard += 1
    arrivals.note(sequence)
    noteReception(at: arrival.instant)

    if isDigit { return digits.receive(packet, in: datagram, isOther: isOtherDigit) }
    if isOther { digits.noteOther(header.payloadType) } else if isOurs { digits.noteOwn() }
    guard isOurs else { return }
    let mediaFrame = mediaClock.frame(at: header.timestamp)
    guard header.payloadType == configuration.receivePayloadType else {
      return receiveRedundant(
        packet.payload,
        of: datagram,
        sequence: sequence,
        mediaFrame: mediaFrame,
        at: arrival
      )
    }
    voice.insert(
      datagram,
      payload: packet.payload,
      sequence: sequence,
      mediaFrame: mediaFrame,
      at: arrival
    )
  }

  // A copy has no number of its own. Where packets of one duration follow each other without a gap,
  // its time gives it. Else the block before the packet's own has the number before it, and so on,
  // as long as one follows the other.
  @_noAllocation @_noLocks
  private mutating func receiveRedundant(
    _ payload: Range<Int>,
    of datagram: borrowing ByteBuffer,
    sequence: Int64,
    mediaFrame: Int64,
    at arrival: ArrivalTime
  ) {
    guard let redundant = RedundantPayload(parsing: datagram, in: payload) else { return }
    var blocks = redundant
    var left = redundant.count
    var reach = 0
    var known = redundant.count
    var ownFrames: FrameCount = 0
    while let block = blocks.next(in: datagram) {
      if block.timestampOffset != reach { known = left }
      left -= 1
      let isOurs = block.payloadType == configuration.receivePayloadType
      let frames = isOurs ? voice.frames(of: datagram, in: block.payload) : nil
      reach = block.timestampOffset - (frames ?? 0)
      if frames == nil { known = left }
      if left == 0 { ownFrames = frames ?? 0 }
    }
    let isSteady = voice.isSteady(to: sequence, mediaFrame: mediaFrame, packetFrames: ownFrames)
    blocks = redundant
    left = redundant.count
    while let block = blocks.next(in: datagram) {
      left -= 1
      // What claims to be as new as the packet itself is no copy.
      guard block.payloadType == configuration.receivePayloadType,
        left == 0 || block.timestampOffset > 0
      else { continue }
      var age = left
      if isSteady, block.timestampOffset > 0, block.timestampOffset % ownFrames == 0,
        voice.frames(of: datagram, in: block.payload) == ownFrames
      {
        age = block.timestampOffset / ownFrames
      } else if left >= known {
        continue
      }
      voice.insert(
        datagram,
        payload: block.payload,
        sequence: sequence - Int64(age),
        mediaFrame: mediaFrame - Int64(block.timestampOffset),
        distance: block.timestampOffset,
        at: arrival
      )
    }
  }

  /// Removes and returns the code of the next digit received, or of a `CodecNews`; nil if there is
  /// none.
  @_noAllocation @_noLocks package mutating func takeDigit() -> UInt8? { digits.take() }

  @_noAllocation @_noLocks
  private mutating func noteReception(at instant: MonotonicInstant) {
    lastReceived = instant
    statistics.refusals = 0
  }

  /// Notes that the far side's host refused a packet (ICMP).
  @_noAllocation @_noLocks
  package mutating func noteRefusal() {
    statistics.refusals += 1
  }

  // MARK: Playing

  /// Notes a change of the time that packets wait for the playback callback.
  @_noAllocation @_noLocks
  package mutating func noteWaits(_ change: WaitChange) { voice.noteWaits(change) }

  /// Notes that the loudspeaker is gone, or resumes after a stall.
  @_noAllocation @_noLocks
  package mutating func noteInterruption() { voice.noteInterruption() }

  /// Notes that a loudspeaker that stalled asks for several periods at once, so that packets
  /// arriving up to `end`, by its clock, seem late.
  @_noAllocation @_noLocks
  package mutating func noteCatchingUp(until end: MonotonicInstant) {
    voice.noteCatchingUp(until: end)
  }

  /// Adds the far side's sound to the `count` frames of `output`, at 48 kHz, that will sound
  /// next; `now` is the loudspeaker's time.
  @_noAllocation @_noLocks
  package mutating func render(
    addingTo output: inout SampleBuffer,
    count: FrameCount,
    at now: MonotonicInstant
  ) {
    voice.render(addingTo: &output, count: count, at: now)
    statistics.outputPeak = max(statistics.outputPeak, output.peak(count: count))
  }

  /// Position of the playout; nil before the first packet and while a loss or a silence is filled.
  package var playout: PlayoutPosition? {
    guard let frame = voice.jitterBuffer.expectedFrame,
      let timestamp = mediaClock.timestamp(of: frame)
    else { return nil }
    return PlayoutPosition(timestamp: timestamp, queuedFrames: voice.queuedFrames)
  }

  // MARK: Reporting

  /// Brings `statistics` up to `now`, returns them and starts the next interval of the levels.
  @_noAllocation @_noLocks
  package mutating func takeStatistics(at now: MonotonicInstant) -> StreamStatistics {
    statistics.note(reception, clockRate: clockRate)
    statistics.note(voice)
    statistics.note(sender)
    statistics.roundTripNanoseconds = control.roundTripNanoseconds ?? -1
    statistics.isFarGone = control.isFarGone
    if let lastReceived {
      statistics.silenceNanoseconds = max(0, now.nanoseconds(since: lastReceived))
    } else {
      lastReceived = now
    }
    let taken = statistics
    statistics.outputPeak = 0
    return taken
  }
}
