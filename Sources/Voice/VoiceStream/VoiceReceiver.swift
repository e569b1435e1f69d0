import MediaCore
import Playout

/// Receiving side of a stream, from arriving packets to sound: jitter buffer, decoder, output
/// queue.
///
/// Time is the loudspeaker's (`DeviceClock`). Nothing here allocates after the initialiser.
package struct VoiceReceiver: ~Copyable {
  /// Frames needed for time-stretching: two pitch periods of a low voice.
  private static var stretchFrames: FrameCount { @_noAllocation @_noLocks get { 960 } }
  private static var payloadCapacity: Int { @_noAllocation @_noLocks get { 1_488 } }

  /// Buffer that orders packets, learns the delay and decides what to play.
  private(set) var jitterBuffer: JitterBuffer
  /// Packets that the last `render` decoded.
  package private(set) var decodes = DecodeLog()
  /// Frames that time-stretching has removed.
  private(set) var removedFrames: Int64 = 0
  /// The duration of the newest packet, in frames at 48 kHz; 0 before the first.
  private(set) var packetFrames: FrameCount = 0
  /// Frames that time-stretching has added.
  private(set) var addedFrames: Int64 = 0

  private var decoder: PayloadDecoder
  private var payloads: ByteBuffer
  private var payloadLengths: FixedArray<Int>
  private var scratch = SampleBuffer(repeating: 0, count: 5_760)
  private let mechanisms: PlayoutMechanisms
  private var queue: OutputBuffer
  /// Current change of the delay, until the next packet is decoded.
  private var correction = JitterBuffer.Correction.none
  private var repair = LossRepair()
  private var filler: GapFiller

  /// Creates a receiver to which nothing has arrived.
  init(decoder: consuming PayloadDecoder, _ mechanisms: PlayoutMechanisms) {
    self.mechanisms = mechanisms
    queue = OutputBuffer(mechanisms)
    jitterBuffer = JitterBuffer(mechanisms)
    payloads = FixedArray(repeating: 0, count: JitterBuffer.capacity * Self.payloadCapacity)
    payloadLengths = FixedArray(repeating: 0, count: JitterBuffer.capacity)
    filler = GapFiller(decoder.concealmentFrames, mechanisms)
    self.decoder = decoder
  }

  /// Inserts the bytes `payload` of a datagram, unless the decoder cannot read them.
  ///
  /// `sequence` and `mediaFrame` are its extended sequence number and its timestamp in frames at 48
  /// kHz. A copy has a `distance`: the number of frames by which the packet that carries it begins
  /// later.
  @_noAllocation @_noLocks
  mutating func insert(
    _ datagram: borrowing ByteBuffer,
    payload: Range<Int>,
    sequence: Int64,
    mediaFrame: Int64,
    distance: FrameCount = 0,
    at arrival: ArrivalTime
  ) {
    guard payload.count <= Self.payloadCapacity, let frames = frames(of: datagram, in: payload)
    else { return }
    if distance == 0 { packetFrames = frames }
    let isSilence = decoder.isSilence(byteCount: payload.count)
    let redundantFrames = decoder.redundantFrames(of: datagram, in: payload)
    let insertion: JitterBuffer.Insertion
    if distance > 0 {
      insertion = jitterBuffer.insertCopy(
        sequence: sequence,
        mediaFrame: mediaFrame,
        frames: frames,
        isSilence: isSilence,
        redundantFrames: redundantFrames,
        distance: distance
      )
    } else {
      insertion = jitterBuffer.insert(
        sequence: sequence,
        mediaFrame: mediaFrame,
        frames: frames,
        isSilence: isSilence,
        redundantFrames: redundantFrames,
        at: arrival.playback,
        wait: arrival.wait
      )
    }
    guard case .stored(let slot) = insertion else { return }
    decodes.noteArrival(slot: slot, at: arrival.playback)
    payloadLengths[slot] = payload.count
    let base = slot * Self.payloadCapacity
    payloads.copy(from: datagram, at: payload.lowerBound, to: base, count: payload.count)
  }

  /// Returns the duration of a payload in frames at 48 kHz, nil if it is malformed.
  @_noAllocation @_noLocks
  func frames(of datagram: borrowing ByteBuffer, in payload: Range<Int>) -> FrameCount? {
    payload.isEmpty ? nil : decoder.frames(of: datagram, in: payload)
  }

  /// True if packets of `packetFrames` each, without a gap between them, lead from the packet
  /// expected next to the one with these numbers.
  @_noAllocation @_noLocks
  func isSteady(to sequence: Int64, mediaFrame: Int64, packetFrames: FrameCount) -> Bool {
    guard packetFrames > 0, let next = jitterBuffer.expected else { return false }
    let packets = sequence - next.sequence
    return packets >= 0 && mediaFrame - next.mediaFrame == packets * Int64(packetFrames)
  }

  /// Decoded frames that have not been rendered.
  var queuedFrames: FrameCount { queue.count }

  /// Forgets the packets that wait, as when another source takes over.
  @_noAllocation @_noLocks
  mutating func restart() {
    jitterBuffer.restart()
    repair.restart()
    filler.restart()
  }

  @_noAllocation @_noLocks
  mutating func noteWaits(_ change: WaitChange) { jitterBuffer.noteWaits(change) }

  @_noAllocation @_noLocks
  mutating func noteDelayElsewhere(_ nanoseconds: Int64) {
    jitterBuffer.noteDelayElsewhere(nanoseconds)
  }

  /// Drops the packets that waited while the loudspeaker stalled.
  @_noAllocation @_noLocks
  mutating func noteInterruption() { jitterBuffer.noteInterruption() }

  /// Ignores the delays of packets that arrive up to `end`.
  @_noAllocation @_noLocks
  mutating func noteCatchingUp(until end: MonotonicInstant) {
    jitterBuffer.noteCatchingUp(until: end)
  }

  /// Adds the next `count` frames to `output`.
  @_noAllocation @_noLocks
  mutating func render(
    addingTo output: inout SampleBuffer,
    count: FrameCount,
    at now: MonotonicInstant
  ) {
    decodes.begin()
    let isReplaced = replaceConcealment(at: now)
    let isRepaired = repairLoss(at: now, produced: 0)
    if isReplaced || isRepaired { correct(at: now, produced: 0) }
    var produced = queue.read(addingTo: &output, in: 0..<count, ratio: correction.ratio)
    var steps = 0
    while produced < count, steps < 256 {
      steps += 1
      let isDecoded = takeStep(at: now, produced: produced)
      let isRepaired = repairLoss(at: now, produced: produced)
      if isDecoded || isRepaired { correct(at: now, produced: produced) }
      produced += queue.read(
        addingTo: &output,
        in: produced..<count,
        ratio: correction.ratio
      )
    }
  }

  // Replaces unplayed concealment by the packet that it stood for, once that has arrived; true if
  // that was decoded.
  @_noAllocation @_noLocks
  private mutating func replaceConcealment(at now: MonotonicInstant) -> Bool {
    guard mechanisms.replacement, repair.isOpen, repair.decodedAfter == 0 else { return false }
    let frames = jitterBuffer.replaceableFrames(of: min(queue.count, repair.concealed))
    guard frames >= LossRepair.spliceFrames else { return false }
    repair.takeBack(frames, from: &queue)
    filler.takeBack(frames)
    jitterBuffer.takeBack(frames)
    let before = queue.count
    var isDecoded = takeStep(at: now, produced: 0)
    // The redundancy was for the decoder alone, and the packet itself is next.
    if queue.count == before { isDecoded = takeStep(at: now, produced: 0) }
    repair.dropContinuation()
    return isDecoded
  }

  // True if a packet was decoded.
  @_noAllocation @_noLocks
  private mutating func takeStep(at now: MonotonicInstant, produced: FrameCount) -> Bool {
    let unplayed = queue.count + produced
    correction.leavePause()
    let step = jitterBuffer.next(at: now, queuedFrames: unplayed)
    perform(step)
    switch step {
    case .decode(let slot, _, _), .decodeLate(let slot, _, _, _):
      decodes.noteDecoding(slot: slot, at: now, queuedFrames: unplayed)
      return true
    case .recover, .conceal, .comfort, .silence:
      return false
    }
  }

  // Conceals a loss as a whole once its end is here, and repairs it with what follows; true if that
  // was decoded.
  @_noAllocation @_noLocks
  private mutating func repairLoss(at now: MonotonicInstant, produced: FrameCount) -> Bool {
    guard mechanisms.repair else {
      if repair.decodedAfter > 0 { repair.close() }
      return false
    }
    guard repair.isOpen else { return false }
    guard !repair.isFaded else {
      if repair.decodedAfter > 0 { repair.close() }
      return false
    }
    var steps = 0
    while repair.decodedAfter == 0, steps < 64, jitterBuffer.canRepair {
      steps += 1
      _ = takeStep(at: now, produced: produced)
    }
    while repair.decodedAfter < OutputBuffer.mergeFrames, jitterBuffer.canDecodeAhead {
      _ = takeStep(at: now, produced: produced)
    }
    guard repair.decodedAfter > 0 else { return false }
    queue.repair(
      gap: repair.concealed,
      next: repair.decodedAfter,
      converging: mechanisms.convergence ? repair.converging : 0
    )
    repair.close()
    return true
  }

  @_noAllocation @_noLocks
  private mutating func perform(_ step: JitterBuffer.Step) {
    switch step {
    case .decode(let slot, let frames, let lost):
      let decoded = decode(slot, frames, after: lost)
      appendSpeech(decoded, orConceal: frames)
    case .decodeLate(let slot, let frames, let skipping, let lost):
      let decoded = decode(slot, frames, after: lost, skipping: skipping)
      appendSpeech(decoded, orConceal: frames - skipping)
    case .recover(let slot, let frames, let skipping, let lost):
      let decoded = decode(slot, frames, after: lost, skipping: skipping, isRedundancy: true)
      appendSpeech(decoded, orConceal: frames - skipping)
    case .conceal(let frames):
      appendSpeech(0, orConceal: frames)
    case .comfort(let frames):
      let continued = conceal(frames, isPause: true)
      queue.append(scratch, count: continued)
      repair.close()
    case .silence(let frames):
      scratch.fill(0, count: frames)
      queue.append(scratch, count: frames)
    }
  }

  @_noAllocation @_noLocks
  private func payload(_ slot: Int) -> Range<Int> {
    let base = slot * Self.payloadCapacity
    return base..<base + payloadLengths[slot]
  }

  // The first `decoded` frames of `scratch`; what could not be decoded is lost as well.
  @_noAllocation @_noLocks
  private mutating func appendSpeech(_ decoded: FrameCount, orConceal frames: FrameCount) {
    if decoded > 0 {
      queue.append(scratch, count: decoded)
      repair.noteDecoded(decoded)
    } else if frames > 0 {
      let concealed = conceal(frames)
      queue.append(scratch, count: concealed)
      repair.noteConcealed(concealed)
    }
  }

  // Returns how many frames of it are to be played, in `scratch`. Where something was concealed for
  // its time, it fades in over that within 2.5 ms.
  @_noAllocation @_noLocks
  private mutating func decode(
    _ slot: Int,
    _ frames: FrameCount,
    after lost: FrameCount,
    skipping: FrameCount = 0,
    isRedundancy: Bool = false
  ) -> FrameCount {
    if skipping > 0 { prepareSplice(for: frames - skipping) }
    let isFollowed = decoder.pass(lost + repair.takeUndecodable(), using: &scratch)
    if !isFollowed { prepareSplice(for: frames - skipping) }
    let range = payload(slot)
    let decoded =
      isRedundancy
      ? decoder.recover(payloads, in: range, into: &scratch, frames: frames)
      : decoder.decode(payloads, in: range, into: &scratch)
    // What cannot be decoded is lost, and concealment goes on.
    if decoded == 0 { repair.noteUndecodable(frames) }
    let played = decoded - skipping
    guard played > 0 else { return 0 }
    decoder.endConcealment()
    scratch.move(from: skipping, to: 0, count: played)
    if decoder.isSilence(byteCount: range.count) {
      filler.fill(&scratch, count: played, isPause: true)
    } else {
      filler.noteDecoded(&scratch, count: played, afterGap: lost > 0 || skipping > 0)
    }
    let overlap = repair.fadeIn(&scratch, count: played)
    repair.noteConverging(max(lost > 0 ? decoder.convergenceFrames : 0, overlap))
    return played
  }

  // Continues what was played, for a packet to fade in over, unless nothing is to be played after
  // it.
  @_noAllocation @_noLocks
  private mutating func prepareSplice(for frames: FrameCount) {
    guard !repair.hasContinuation, frames > 0 else { return }
    let continued = conceal(LossRepair.spliceFrames)
    repair.setContinuation(scratch, count: continued)
  }

  // Decoders conceal in steps of 2.5 ms; what they refuse becomes silence.
  @_noAllocation @_noLocks
  private mutating func conceal(_ frames: FrameCount, isPause: Bool = false) -> FrameCount {
    let whole = max(120, frames / 120 * 120)
    var decoded = decoder.conceal(into: &scratch, frames: whole)
    if decoded == 0 {
      scratch.fill(0, count: whole)
      decoded = whole
    }
    filler.fill(&scratch, count: decoded, isPause: isPause)
    return decoded
  }

  @_noAllocation @_noLocks
  private mutating func correct(at now: MonotonicInstant, produced: FrameCount) {
    let unplayed = queue.count + produced
    correction = jitterBuffer.correction(
      at: now,
      queuedFrames: unplayed,
      isQuiet: queue.isQuiet
    )
    switch correction.stretch {
    case .none:
      break
    case .shorten(let frames, let isUrgent):
      decodeAhead(at: now, produced: produced)
      note(stretch: queue.shorten(limit: frames, isUrgent: isUrgent))
    case .lengthen(let frames):
      decodeAhead(at: now, produced: produced)
      note(stretch: -queue.lengthen(limit: frames))
    }
  }

  // A pitch period can only be cut out of two: with short packets that takes several.
  @_noAllocation @_noLocks
  private mutating func decodeAhead(at now: MonotonicInstant, produced: FrameCount) {
    while queue.count < Self.stretchFrames, jitterBuffer.canDecodeAhead {
      _ = takeStep(at: now, produced: produced)
    }
  }

  @_noAllocation @_noLocks
  private mutating func note(stretch frames: FrameCount) {
    jitterBuffer.noteStretch(removedFrames: frames)
    removedFrames += Int64(max(0, frames))
    addedFrames += Int64(max(0, -frames))
  }
}
