import Codecs
import MediaCore
import RTP

/// Sending side of a stream, from captured samples to RTP packets: framing, codec, redundancy, DTMF
/// digits.
///
/// RTP timestamps follow captured speech. Where an encoder looks further ahead than the one before
/// it, packets leave that much later, and their timestamps go on without a gap.
/// Nothing here allocates after the initialiser.
struct VoiceSender: ~Copyable {
  /// Sound that primes an encoder before its first packet, in frames, so that it begins within a
  /// sound without a click.
  private static var primingFrames: FrameCount { @_noAllocation @_noLocks get { 960 } }
  /// Sent sound that is kept, in frames: to prime encoders, and for one with less look-ahead.
  private static var historyFrames: FrameCount { @_noAllocation @_noLocks get { 1_152 } }

  /// RTP packets sent.
  private(set) var packetsSent: Int64 = 0
  /// Payload bytes sent.
  private(set) var bytesSent: Int64 = 0
  /// Captured frames at 48 kHz that are not a whole packet yet.
  private(set) var pendingFrames = 0
  /// Plan by which packets are made now.
  private(set) var plan: SendingPlan
  /// Planner that decides on the next `plan`.
  var planner: SendingPlanner

  private let configuration: StreamConfiguration
  private let framesPerTick: Int
  private let framesPerEventTick: Int
  private var encoder: PayloadEncoder
  private var samples = SampleBuffer(repeating: 0, count: 16_384)
  /// Index in `samples` of the first pending frame.
  private var begin = 1_152
  private var sent = PayloadHistory()
  private var remainder = PacketizationResidue()
  private var sequenceNumber: UInt16
  private var timestamp: RTPTimestamp
  private var isSilenceAnnounced = false
  private var marksNextPacket = true
  private var digits = TelephoneEventSender()
  /// Packets that earlier streams of the same source have sent; `bytesBefore` counts their payload
  /// bytes.
  private var packetsBefore: Int64 = 0
  private var bytesBefore: Int64 = 0

  /// Longest time between two streams, in nanoseconds, over which digits that wait are kept.
  private static let longestChange: Int64 = 1_000_000_000

  /// Creates a sender that has sent nothing; throws the error of the codec or the resampler.
  init(_ configuration: StreamConfiguration) throws {
    let planner = SendingPlanner(configuration)
    let encoder = try PayloadEncoder(configuration, planner.plan)
    self.configuration = configuration
    self.encoder = encoder
    framesPerTick = SampleRate.voice.hertz / configuration.clockRate.hertz
    framesPerEventTick = framesPerTick * configuration.ticksPerEventTick
    // The far side counts the cycles of SRTP from the first packet that it receives: the first ones
    // may be lost, but not with the end of a cycle among them (RFC 3711 section 3.3.1).
    let first = UInt16(truncatingIfNeeded: configuration.seed)
    sequenceNumber = configuration.isAuthenticated ? first & 0x7fff : first
    timestamp = configuration.firstTimestamp
    plan = planner.plan
    self.planner = planner
  }

  /// RTP packets and payload bytes that the source has sent, in all its streams.
  var sentBySource: (packets: Int64, bytes: Int64) {
    @_noAllocation @_noLocks get { (packetsBefore + packetsSent, bytesBefore + bytesSent) }
  }

  /// Returns the numbers of the source at `now`, with all frames captured until then counted as
  /// sent.
  func position(at now: MonotonicInstant) -> SendingPosition {
    SendingPosition(
      sequenceNumber: sequenceNumber,
      timestamp: timestamp.advanced(by: pendingFrames / framesPerTick),
      packetsSent: sentBySource.packets,
      bytesSent: sentBySource.bytes,
      instant: now,
      digits: configuration.maySend ? digits : TelephoneEventSender()
    )
  }

  /// Continues after another stream of the same source; the media time ran on meanwhile.
  mutating func resume(from position: SendingPosition, at now: MonotonicInstant) {
    sequenceNumber = position.sequenceNumber
    let frames = SampleRate.voice.frames(
      inNanoseconds: max(0, now.nanoseconds(since: position.instant))
    )
    timestamp = position.timestamp.advanced(by: frames / framesPerTick)
    packetsBefore = position.packetsSent
    bytesBefore = position.bytesSent
    // After a hold they would come at another time than they were pressed for.
    guard configuration.maySend, configuration.sendEventPayloadType != nil,
      now.nanoseconds(since: position.instant) < Self.longestChange
    else { return }
    digits.follow(position.digits)
  }

  /// False while pushed frames are not sent: the stream may not send, or sends DTMF digits.
  var sendsVoice: Bool {
    @_noAllocation @_noLocks get { configuration.maySend && !digits.isSending }
  }

  /// Delay of the codec, in frames.
  var lookAhead: FrameCount {
    @_noAllocation @_noLocks get { encoder.lookAhead(of: plan.application) }
  }

  /// Media time of the newest captured frame in the decoder's output.
  var capturedTimestamp: RTPTimestamp {
    @_noAllocation @_noLocks get {
      timestamp.advanced(by: (pendingFrames + lookAhead) / framesPerTick)
    }
  }

  /// Takes in the first `count` captured frames of `block`, at 48 kHz; `isMuted` sends silence in
  /// their place.
  @_noAllocation @_noLocks
  mutating func push(
    _ block: borrowing SampleBuffer,
    count pushed: FrameCount,
    isMuted: Bool
  ) {
    guard configuration.maySend else { return skip(pushed) }
    planner.noteBlock(of: pushed)
    remainder.note(pending: pendingFrames, before: pushed)
    let count = min(pushed, samples.count - Self.historyFrames - pendingFrames)
    if begin + pendingFrames + count > samples.count {
      let kept = Self.historyFrames + pendingFrames
      samples.move(from: begin - Self.historyFrames, to: 0, count: kept)
      begin = Self.historyFrames
    }
    if isMuted {
      samples.fill(0, from: begin + pendingFrames, count: count)
    } else {
      samples.copy(from: block, to: begin + pendingFrames, count: count)
    }
    pendingFrames += count
    if remainder.isKnown {
      leaveOutRemainder(afterBlockOf: count, peak: isMuted ? 0 : block.peak(count: count))
    }
    // More than a quarter of a second at once: what does not fit is a gap of known length.
    if count < pushed { skip(pushed - count) }
  }

  // The dropped remainder is cross-faded into what follows it.
  @_noAllocation @_noLocks
  private mutating func leaveOutRemainder(afterBlockOf count: FrameCount, peak: Float) {
    guard let taken = remainder.take(afterBlockOf: count, peak: peak) else { return }
    let frames = taken / framesPerTick * framesPerTick
    let overlap = min(frames, pendingFrames - frames)
    for offset in 0..<overlap {
      let weight = Float(offset) / Float(overlap)
      let old = samples[begin + offset]
      samples[begin + frames + offset] = old + (samples[begin + frames + offset] - old) * weight
    }
    begin += frames
    pendingFrames -= frames
    skip(frames)
  }

  /// Advances the media time by `frames` at 48 kHz that are not sent, such as those lost in a
  /// capture fault.
  @_noAllocation @_noLocks
  mutating func skip(_ frames: FrameCount) {
    timestamp = timestamp.advanced(by: frames / framesPerTick)
    breakTimeline()
  }

  @_noAllocation @_noLocks
  private mutating func breakTimeline() {
    marksNextPacket = true
    sent.removeAll()
  }

  /// Writes the next RTP packet to `datagram` and returns its length; nil when no whole packet is
  /// pending.
  @_noAllocation @_noLocks
  mutating func nextPacket(into datagram: inout ByteBuffer) -> Int? {
    while true {
      guard follow(planner.plan, using: &datagram), pendingFrames >= plan.packetFrames else {
        return nil
      }
      let slot = digits.next(
        frames: plan.packetFrames,
        at: timestamp,
        framesPerTick: framesPerEventTick
      )
      switch slot {
      case .voice:
        break
      case .nothing:
        dropPending()
        continue
      case .event(let event, let began, let isFirst):
        dropPending()
        return write(event, began: began, isFirst: isFirst, to: &datagram)
      }
      if let length = nextVoice(into: &datagram) { return length }
    }
  }

  // Nil if there is nothing to send: the voice is silent.
  @_noAllocation @_noLocks
  private mutating func nextVoice(into datagram: inout ByteBuffer) -> Int? {
    let copies = writeCopies(to: &datagram)
    let offset = copies ?? RTPHeader.minimumLength
    let length = encoder.encode(
      samples,
      from: begin,
      frames: plan.packetFrames,
      into: &datagram,
      at: offset
    )
    let packetTimestamp = timestamp
    removePending()
    // The first packet of a silence announces it, the rest is not sent (RFC 7587 3.1.3).
    let isSilence = framesPerTick == 1 && length <= OpusVoiceEncoder.silenceBytes
    if length == 0 || isSilence && isSilenceAnnounced {
      sent.removeAll()
      return nil
    }
    writeHeader(
      to: &datagram,
      copies == nil
        ? configuration.sendPayloadType : configuration.sendRedundancyPayloadType ?? 0,
      at: packetTimestamp,
      isMarked: marksNextPacket
    )
    if configuration.sendRedundancyPayloadType != nil {
      sent.append(datagram, at: offset, length: length, timestamp: packetTimestamp)
    }
    isSilenceAnnounced = isSilence
    marksNextPacket = isSilence
    packetsSent += 1
    bytesSent += Int64(offset - RTPHeader.minimumLength + length)
    return offset + length
  }

  // Where the payload goes behind the copies, nil if there are none.
  @_noAllocation @_noLocks
  private func writeCopies(to datagram: inout ByteBuffer) -> Int? {
    guard plan.redundancyDepth > 0, configuration.sendRedundancyPayloadType != nil else {
      return nil
    }
    return sent.write(
      depth: plan.redundancyDepth,
      reach: plan.redundancyReach,
      payloadType: configuration.sendPayloadType,
      timestamp: timestamp,
      to: &datagram,
      at: RTPHeader.minimumLength
    )
  }

  // Goes over to another way of sending; false while it waits for the sound that the first packet
  // needs.
  @_noAllocation @_noLocks
  private mutating func follow(_ wanted: SendingPlan, using scratch: inout ByteBuffer) -> Bool {
    guard !wanted.isSame(as: plan) else { return true }
    if wanted.isLowDelay != plan.isLowDelay {
      let shift =
        encoder.lookAhead(of: wanted.application) - encoder.lookAhead(of: plan.application)
      guard pendingFrames >= shift + wanted.packetFrames,
        begin + shift >= Self.primingFrames
      else { return false }
      begin += shift
      pendingFrames -= shift
      encoder.begin(wanted.application, at: wanted.bitrate)
      var primed = Self.primingFrames
      while primed >= wanted.packetFrames {
        _ = encoder.encode(
          samples,
          from: begin - primed,
          frames: wanted.packetFrames,
          into: &scratch,
          at: RTPHeader.minimumLength
        )
        primed -= wanted.packetFrames
      }
      encoder.makeNextIndependent()
    } else if wanted.bitrate != plan.bitrate {
      encoder.setBitrate(wanted.bitrate)
    }
    if wanted.expectedLossPercent != plan.expectedLossPercent {
      encoder.setExpectedLoss(percent: wanted.expectedLossPercent)
    }
    plan = wanted
    return true
  }

  @_noAllocation @_noLocks
  private mutating func removePending() {
    begin += plan.packetFrames
    pendingFrames -= plan.packetFrames
    timestamp = timestamp.advanced(by: plan.packetFrames / framesPerTick)
  }

  @_noAllocation @_noLocks
  private mutating func dropPending() {
    removePending()
    breakTimeline()
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
    packetsSent += 1
    bytesSent += Int64(TelephoneEvent.length)
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

  /// Queues a DTMF digit, coded as in RFC 4733, behind those that wait; false if the far side
  /// accepts none, or too many wait.
  @_noAllocation @_noLocks
  mutating func press(_ code: UInt8) -> Bool {
    configuration.sendEventPayloadType != nil && digits.press(code)
  }
}
