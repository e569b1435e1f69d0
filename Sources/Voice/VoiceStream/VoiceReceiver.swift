import MediaCore
import Playout

/// From the packets that arrived to the sound of the far side: jitter buffer, decoder, speech
/// queue.
///
/// Time is the loudspeaker's (`DeviceClock`). Nothing here allocates after the initialiser.
package struct VoiceReceiver: ~Copyable {
  /// Two pitch periods of a low voice.
  private static var stretchFrames: FrameCount { @_noAllocation @_noLocks get { 960 } }
  private static var overlapFrames: FrameCount { @_noAllocation @_noLocks get { 120 } }
  private static var payloadCapacity: Int { @_noAllocation @_noLocks get { 1_488 } }

  /// Order, delay and decision.
  private(set) var jitterBuffer: JitterBuffer
  /// What the last `render` decoded.
  package private(set) var decodes = DecodeLog()
  /// Frames that time-stretching took out so far.
  private(set) var removedFrames: Int64 = 0
  /// Frames that time-stretching put in so far.
  private(set) var addedFrames: Int64 = 0

  private var decoder: PayloadDecoder
  private var payloads: ByteBuffer
  private var payloadLengths: FixedArray<Int>
  private var scratch = SampleBuffer(repeating: 0, count: 5_760)
  private var fading = SampleBuffer(repeating: 0, count: 120)
  private var queue = OutputBuffer()
  /// Frames of a packet that could not be decoded, over which the decoder has not been taken yet.
  private var damaged: FrameCount = 0
  /// How many frames of `fading` go on from what was heard.
  private var joint: FrameCount = 0
  /// How much of what was decoded after a loss leans on what was invented for it.
  private var leaning: FrameCount = 0
  /// The newest frames of the queue: what was invented for a loss, and what was decoded after it.
  private var loss: (invented: FrameCount, next: FrameCount) = (0, 0)

  /// Nothing has arrived.
  init(decoder: consuming PayloadDecoder) {
    jitterBuffer = JitterBuffer()
    payloads = FixedArray(repeating: 0, count: JitterBuffer.capacity * Self.payloadCapacity)
    payloadLengths = FixedArray(repeating: 0, count: JitterBuffer.capacity)
    self.decoder = decoder
  }

  /// Takes in the bytes `payload` of a datagram, unless the decoder cannot read them.
  ///
  /// `sequence` and `mediaFrame` are its extended sequence number and its timestamp in frames at 48
  /// kHz. What a later packet brings once more has a `distance`: how many frames later that one
  /// begins.
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
    let isSilence = decoder.isSilence(byteCount: payload.count)
    let carriesRedundancy = decoder.carriesRedundancy(datagram, in: payload)
    let insertion: JitterBuffer.Insertion
    if distance > 0 {
      insertion = jitterBuffer.insertCopy(
        sequence: sequence,
        mediaFrame: mediaFrame,
        frames: frames,
        isSilence: isSilence,
        carriesRedundancy: carriesRedundancy,
        distance: distance
      )
    } else {
      insertion = jitterBuffer.insert(
        sequence: sequence,
        mediaFrame: mediaFrame,
        frames: frames,
        isSilence: isSilence,
        carriesRedundancy: carriesRedundancy,
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

  /// The duration of a payload in frames at 48 kHz, nil if it makes no sense.
  @_noAllocation @_noLocks
  func frames(of datagram: borrowing ByteBuffer, in payload: Range<Int>) -> FrameCount? {
    payload.isEmpty ? nil : decoder.frames(of: datagram, in: payload)
  }

  /// Decoded frames that have not been rendered.
  var queuedFrames: FrameCount { queue.count }

  /// Forgets what waits, as when another source takes over.
  @_noAllocation @_noLocks
  mutating func restart() {
    jitterBuffer.restart()
    // What another source said leads nowhere.
    loss = (JitterBuffer.fadedFrames, 0)
    joint = 0
    damaged = 0
  }

  @_noAllocation @_noLocks
  mutating func noteShorterWaits(by nanoseconds: Int64) {
    jitterBuffer.noteShorterWaits(by: nanoseconds)
  }

  /// Leaves out what waited while the loudspeaker stood still.
  @_noAllocation @_noLocks
  mutating func noteInterruption() { jitterBuffer.noteInterruption() }

  /// Adds the next `count` frames to `output`.
  @_noAllocation @_noLocks
  mutating func render(
    addingTo output: inout SampleBuffer,
    count: FrameCount,
    at now: MonotonicInstant
  ) {
    decodes.begin()
    let isReplaced = replaceGuess(at: now)
    let isBridged = bridgeLoss(at: now, produced: 0)
    if isReplaced || isBridged { correct(at: now, produced: 0) }
    var produced = readQueue(addingTo: &output, in: 0..<count)
    var steps = 0
    while produced < count, steps < 256 {
      steps += 1
      let isDecoded = takeStep(at: now, produced: produced)
      let isBridged = bridgeLoss(at: now, produced: produced)
      if isDecoded || isBridged { correct(at: now, produced: produced) }
      produced += readQueue(addingTo: &output, in: produced..<count)
    }
  }

  // A packet that is late by next to nothing is waited for at a slower pace instead of inventing
  // what it brings.
  @_noAllocation @_noLocks
  private mutating func readQueue(
    addingTo output: inout SampleBuffer,
    in range: Range<Int>
  ) -> FrameCount {
    var ratio = jitterBuffer.ratio
    if let slower = queue.ratio(lastingFor: range.count, insteadOf: ratio), jitterBuffer.isStarved {
      ratio = slower
    }
    return queue.read(addingTo: &output, in: range, ratio: ratio)
  }

  // What was invented for a packet that has come since gives way to it, as far as it is unplayed;
  // true if that was decoded.
  @_noAllocation @_noLocks
  private mutating func replaceGuess(at now: MonotonicInstant) -> Bool {
    guard loss.invented > 0, loss.next == 0 else { return false }
    let frames = jitterBuffer.replaceableFrames(of: min(queue.count, loss.invented))
    guard frames >= Self.overlapFrames else { return false }
    queue.takeBack(frames, into: &fading)
    jitterBuffer.takeBack(frames)
    loss.invented -= frames
    joint = Self.overlapFrames
    let before = queue.count
    var isDecoded = takeStep(at: now, produced: 0)
    // The redundancy was for the decoder alone, and the packet itself is next.
    if queue.count == before { isDecoded = takeStep(at: now, produced: 0) }
    joint = 0
    return isDecoded
  }

  // True if a packet was decoded.
  @_noAllocation @_noLocks
  private mutating func takeStep(at now: MonotonicInstant, produced: FrameCount) -> Bool {
    let unplayed = queue.count + produced
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

  // A loss of which the end is here is concealed as a whole, and bridged with what follows; true if
  // that was decoded.
  @_noAllocation @_noLocks
  private mutating func bridgeLoss(at now: MonotonicInstant, produced: FrameCount) -> Bool {
    guard loss.invented > 0 else { return false }
    // After so long a silence the stream starts afresh.
    guard loss.invented < JitterBuffer.fadedFrames else {
      if loss.next > 0 { loss = (0, 0) }
      return false
    }
    var steps = 0
    while loss.next == 0, steps < 64, jitterBuffer.canBridge(at: now) {
      steps += 1
      _ = takeStep(at: now, produced: produced)
    }
    while loss.next < OutputBuffer.bridgeheadFrames, jitterBuffer.canDecodeAhead {
      _ = takeStep(at: now, produced: produced)
    }
    guard loss.next > 0 else { return false }
    queue.bridge(gap: loss.invented, next: loss.next, leaning: leaning)
    loss = (0, 0)
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
      let continued = conceal(frames)
      queue.append(scratch, count: continued)
      loss = (0, 0)
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
      if loss.invented > 0 { loss.next += decoded }
    } else if frames > 0 {
      let invented = conceal(frames)
      queue.append(scratch, count: invented)
      joint = 0
      if loss.next == 0 { loss.invented += invented } else { loss.next += invented }
    }
  }

  // Returns how much of it is to be heard, in `scratch`. Where something else was invented for its
  // time, that goes over into it within 2.5 ms.
  @_noAllocation @_noLocks
  private mutating func decode(
    _ slot: Int,
    _ frames: FrameCount,
    after lost: FrameCount,
    skipping: FrameCount = 0,
    isRedundancy: Bool = false
  ) -> FrameCount {
    if skipping > 0 { prepareJoint(for: frames - skipping) }
    let isFollowed = decoder.pass(lost + damaged, using: &scratch)
    damaged = 0
    if !isFollowed { prepareJoint(for: frames - skipping) }
    let range = payload(slot)
    let decoded =
      isRedundancy
      ? decoder.recover(payloads, in: range, into: &scratch, frames: frames)
      : decoder.decode(payloads, in: range, into: &scratch)
    // What cannot be decoded is lost, and what was invented goes on.
    if decoded == 0 { damaged = frames }
    let heard = decoded - skipping
    guard heard > 0 else { return 0 }
    decoder.endGuess()
    scratch.move(from: skipping, to: 0, count: heard)
    let overlap = min(joint, heard)
    for index in 0..<overlap {
      let weight = Float(index) / Float(overlap)
      scratch[index] = fading[index] + (scratch[index] - fading[index]) * weight
    }
    joint = 0
    if loss.next == 0 { leaning = max(lost > 0 ? decoder.leaningFrames : 0, overlap) }
    return heard
  }

  // Lets what was heard go on, unless it does so already or nothing is to be heard after it.
  @_noAllocation @_noLocks
  private mutating func prepareJoint(for frames: FrameCount) {
    guard joint == 0, frames > 0 else { return }
    joint = min(conceal(Self.overlapFrames), Self.overlapFrames)
    fading.copy(from: scratch, count: joint)
  }

  // Decoders conceal in steps of 2.5 ms; what they refuse becomes silence.
  @_noAllocation @_noLocks
  private mutating func conceal(_ frames: FrameCount) -> FrameCount {
    let whole = max(120, frames / 120 * 120)
    var decoded = decoder.conceal(into: &scratch, frames: whole)
    if decoded == 0 {
      scratch.fill(0, count: whole)
      decoded = whole
    }
    return decoded
  }

  @_noAllocation @_noLocks
  private mutating func correct(at now: MonotonicInstant, produced: FrameCount) {
    let unplayed = queue.count + produced
    switch jitterBuffer.correction(at: now, queuedFrames: unplayed, isQuiet: queue.isQuiet) {
    case .resample:
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
