package import MediaCore

/// Orders packets by sequence number and decides what to play next.
///
/// Feed every packet of the stream to `insert`; ask `next` each time the decoder's output has run
/// out, or earlier where `canDecodeAhead` or `canRepair` allows it, then do what it says;
/// `correction` returns afterwards how the delay should change. All positions are frames at
/// 48 kHz on the sender's media clock. Instants passed in must not decrease.
///
/// | Expected | In the buffer | Result of `next` |
/// |---|---|---|
/// | the first packet of the stream | nothing, or not yet due | `silence` |
/// | the first packet of the stream | later than the target delay | `decodeLate`, its excess cut |
/// | a packet after DTX silence | nothing, or not yet due | `comfort` |
/// | a packet after a pause or a long loss | not yet due | `conceal` |
/// | the next packet | it, or one after a gap too short to conceal | `decode` |
/// | the next packet | a later one with in-band redundancy | `recover` |
/// | the next packet | a later one without | `conceal` for the missing span |
/// | the next packet | nothing | `conceal`; the position stays, so that a late packet plays |
/// | the next packet | it, later than the target delay | `decodeLate`, its excess cut |
/// | the next packet | a whole stall at once | `decodeLate`; most of the excess is not decoded |
package struct JitterBuffer: ~Copyable {
  /// Slots for payloads that the owner must provide.
  package static var capacity: Int { @_noAllocation @_noLocks get { 512 } }

  private static var concealmentChunk: FrameCount { 480 }
  /// Shortest span that a decoder conceals, 2.5 ms at 48 kHz.
  private static var leastConcealment: FrameCount { @_noAllocation @_noLocks get { 120 } }
  /// Length of concealment, 500 ms at 48 kHz, after which the voice has faded and the delay
  /// may change freely.
  package static var fadedFrames: FrameCount { @_noAllocation @_noLocks get { 24_000 } }
  static var skipAhead: Int64 { @_noAllocation @_noLocks get { 20_000_000 } }
  private static var hopelessExcess: Int64 { 500_000_000 }
  private static var stretchThreshold: Int64 { 5_000_000 }
  /// Lead of a timestamp over the clock, in nanoseconds, beyond which the time base has jumped.
  private static var timestampJump: Int64 { 1_000_000_000 }
  /// Time, in nanoseconds, for which a device that was opened or stalled has uneven callbacks.
  private static var settling: Int64 { 100_000_000 }

  /// Counters since the beginning.
  package internal(set) var counters = Counters()
  /// Smoothed playout delay beyond the fastest packet, in nanoseconds; 0 before it is known.
  package var delayNanoseconds: Int64 {
    @_noAllocation @_noLocks get { smoothedDelay ?? 0 }
  }

  private var smoothedDelay: Int64?
  var store = PacketStore(capacity: 512)
  private var lastingExcess = SustainedExcess()
  let mechanisms: PlayoutMechanisms
  var target: DelayTarget
  private var newestArrival: (mediaFrame: Int64, sequence: Int64, instant: MonotonicInstant)?
  /// Sequence number of the first packet received of this time base.
  private var firstReceived: Int64?
  /// The next packet to be played: its extended sequence number and its first frame.
  package private(set) var expected: (sequence: Int64, mediaFrame: Int64)?
  /// First sequence number of this time base; earlier packets belong to one that was left.
  private var firstSequence: Int64 = 0
  var played = RecentSequences()
  var drift: DriftControl
  /// Deviation of the playback ratio from 1 since the last correction, without drift.
  private var steering = 0.0
  private(set) var packetFrames: FrameCount = 960
  /// Frames concealed since the last packet; if more than the gap before it, the next one is late.
  var concealedSinceExpected: FrameCount = 0
  var phase = PlayoutPhase.empty
  /// First and last moment of the current run of small lateness that is dropped; nil before any.
  var steered: (begin: MonotonicInstant, last: MonotonicInstant)?
  /// True from an interruption until a packet is played again.
  var isInterrupted = false
  /// Arrival time from which on delays are learned again after a stall of the loudspeaker.
  var settledFrom = MonotonicInstant(nanoseconds: 0)

  /// A buffer that has received nothing.
  package init(_ mechanisms: PlayoutMechanisms = PlayoutMechanisms()) {
    self.mechanisms = mechanisms
    target = DelayTarget(mechanisms)
    drift = DriftControl(mechanisms)
  }

  /// Notes a change of the time for which packets wait for the playback callback.
  @_noAllocation @_noLocks
  package mutating func noteWaits(_ change: WaitChange) { target.noteWaits(change) }

  /// Sets the mouth-to-ear delay of the fastest packet outside this buffer, in nanoseconds.
  @_noAllocation @_noLocks
  package mutating func noteDelayElsewhere(_ nanoseconds: Int64) {
    target.delayElsewhere = nanoseconds
  }

  /// Target of the playout delay beyond the fastest packet, in nanoseconds.
  package var targetNanoseconds: Int64 {
    @_noAllocation @_noLocks get { target.nanoseconds }
  }

  /// Takes in a packet of the stream.
  ///
  /// - Parameters:
  ///   - sequence: its extended sequence number, positive.
  ///   - mediaFrame: its extended timestamp, in frames at 48 kHz.
  ///   - frames: its duration, 120 to 5760 frames.
  ///   - isSilence: true if it only signals that the sender fell silent (DTX).
  ///   - redundantFrames: the number of frames right before it that its in-band FEC repeats.
  ///   - arrival: the instant of its arrival in the kernel, by the loudspeaker's clock.
  ///   - wait: the time from then on until the next playback callback, in nanoseconds.
  /// - Returns: the outcome, with the slot for its payload.
  @_noAllocation @_noLocks
  package mutating func insert(
    sequence: Int64,
    mediaFrame: Int64,
    frames: FrameCount,
    isSilence: Bool,
    redundantFrames: FrameCount = 0,
    at arrival: MonotonicInstant,
    wait: Int64
  ) -> Insertion {
    if isJump(sequence: sequence, mediaFrame: mediaFrame, at: arrival) {
      restart()
      firstSequence = sequence
    }
    guard sequence >= firstSequence else {
      counters.latePackets += 1
      return .late
    }
    if let expected, sequence < expected.sequence {
      guard !played.contains(sequence) else {
        counters.duplicatePackets += 1
        return .duplicate
      }
      played.insert(sequence)
      learn(mediaFrame: mediaFrame, frames: frames, at: arrival, wait: wait)
      counters.latePackets += 1
      return .late
    }
    guard !store.contains(sequence) else {
      counters.duplicatePackets += 1
      return .duplicate
    }
    if redundantFrames > 0, !isInterrupted, newestArrival != nil, !store.contains(sequence - 1),
      !played.contains(sequence - 1)
    {
      target.noteRecovery(distance: frames)
    }
    learn(mediaFrame: mediaFrame, frames: frames, at: arrival, wait: wait)
    firstReceived = firstReceived ?? sequence
    if let newest = newestArrival, newest.sequence > sequence {
      // Reordered: the newest stays the reference for jumps.
    } else {
      newestArrival = (mediaFrame, sequence, arrival)
    }
    let slot = store.insert(
      StoredPacket(
        sequence: sequence,
        mediaFrame: mediaFrame,
        frames: frames,
        isSilence: isSilence,
        redundantFrames: redundantFrames
      )
    )
    return .stored(slot: slot)
  }

  /// Takes in a payload that a later packet repeats (RFC 2198).
  ///
  /// - Parameters:
  ///   - sequence: the extended sequence number of the packet that it is a copy of, positive.
  ///   - mediaFrame: the extended timestamp of that packet, in frames at 48 kHz.
  ///   - frames: its duration, 120 to 5760 frames.
  ///   - isSilence: true if it only signals that the sender fell silent (DTX).
  ///   - redundantFrames: the number of frames right before it that its in-band FEC repeats.
  ///   - distance: the number of frames from its beginning to that of the packet carrying it.
  /// - Returns: the outcome, with the slot for its payload.
  @_noAllocation @_noLocks
  package mutating func insertCopy(
    sequence: Int64,
    mediaFrame: Int64,
    frames: FrameCount,
    isSilence: Bool,
    redundantFrames: FrameCount = 0,
    distance: FrameCount
  ) -> Insertion {
    // A packet that arrived itself, or is older than the first one, needs no copy.
    guard let firstReceived, sequence > firstReceived, sequence >= firstSequence,
      !played.contains(sequence), !store.contains(sequence)
    else { return .duplicate }
    // What is so old is either played or not worth a thought.
    if let expected, expected.sequence - sequence >= RecentSequences.count { return .duplicate }
    // Numbers and times that contradict each other: the sender put something between its packets.
    if let expected, sequence >= expected.sequence, mediaFrame < expected.mediaFrame {
      return .duplicate
    }
    if let later = store.first(from: sequence), mediaFrame >= later.mediaFrame { return .duplicate }
    if !isInterrupted { target.noteRecovery(distance: distance) }
    if let expected, sequence < expected.sequence {
      played.insert(sequence)
      return .late
    }
    let slot = store.insert(
      StoredPacket(
        sequence: sequence,
        mediaFrame: mediaFrame,
        frames: frames,
        isSilence: isSilence,
        redundantFrames: redundantFrames,
        isCopy: true
      )
    )
    return .stored(slot: slot)
  }

  /// Forgets all packets and the time base, as when another source takes over.
  @_noAllocation @_noLocks
  package mutating func restart() {
    store.removeAll()
    drift = DriftControl(mechanisms, isBeginning: false)
    target.rebase()
    newestArrival = nil
    firstReceived = nil
    expected = nil
    firstSequence = 0
    played.reset()
    phase.wait()
    concealedSinceExpected = Self.fadedFrames
  }

  /// Decides what to append to the output, of which `queuedFrames` are still unplayed, at `now`.
  @_noAllocation @_noLocks
  package mutating func next(at now: MonotonicInstant, queuedFrames: FrameCount) -> Step {
    if isInterrupted { settledFrom = now.advanced(byNanoseconds: Self.settling) }
    guard let front = store.first(from: expected?.sequence ?? 0) else { return starve() }
    let playTime = now.advanced(byNanoseconds: SampleRate.voice.nanoseconds(of: queuedFrames))
    var packet = front
    var held = target.delay(ofFrame: packet.mediaFrame, at: playTime) ?? 0
    // Packets that waited before the first sound are not worth playing late, nor are hopelessly
    // late ones.
    if phase.isEmpty {
      let bearable = SampleRate.voice.nanoseconds(of: packet.frames)
      packet = skip(from: packet, playTime: playTime, leaving: bearable)
    } else if held - target.nanoseconds > Self.hopelessExcess {
      packet = skip(from: packet, playTime: playTime, leaving: 0)
      held = target.delay(ofFrame: packet.mediaFrame, at: playTime) ?? 0
      // Nothing stands in for what was dropped, but for a little to hide the joint.
      let dropped = expected.map { Int(clamping: packet.mediaFrame - $0.mediaFrame) } ?? 0
      concealedSinceExpected = max(concealedSinceExpected, dropped - concealmentFrames)
      if held < target.nanoseconds - Self.skipAhead { phase.wait() }
    }

    guard let expected else { return playWhenDue(packet, at: playTime) }
    if isInterrupted {
      isInterrupted = false
      if let step = goOn(from: packet, at: playTime) { return step }
    }
    let gap = Int(clamping: packet.mediaFrame - expected.mediaFrame)
    let missing = gap - concealedSinceExpected
    let isNext = packet.sequence == expected.sequence
    let isRecovery = bringsFormer(packet, gap: gap)
    // Redundancy that arrives too late to be played still helps the decoder.
    if isRecovery, missing < packet.redundantFrames, phase.isPlaying {
      return recover(from: packet, gap: gap, missing: missing)
    }
    let resumes = phase.isWaiting || isNext && isPause(gap)
    if missing < 0, !phase.isSilent {
      let isSteered = !resumes && isSteered(late: -missing, at: playTime)
      let wanted = isSteered ? -missing : excess(held: held, late: -missing, at: playTime)
      if !resumes || wanted > 0 {
        return playLate(packet, late: -missing, skipping: wanted)
      }
    }
    if resumes {
      phase.wait()
      return playWhenDue(packet, at: playTime)
    }
    // A sender may leave out what is shorter than anything that could be concealed.
    let isLeftOut = isNext && gap < Self.leastConcealment
    if missing <= 0 || isLeftOut || held - target.nanoseconds > Self.skipAhead {
      return play(packet)
    }
    guard isRecovery else { return conceal(min(missing, concealmentFrames)) }
    // What lies further back than the redundancy reaches is concealed first, so that the recovered
    // span sounds in its place and the decoder's state stays in step.
    let beforeRecovery = missing - packet.redundantFrames
    if beforeRecovery >= Self.leastConcealment {
      return conceal(min(beforeRecovery, concealmentFrames))
    }
    return recover(from: packet, gap: gap, missing: missing)
  }

  /// Media time of the frame that is decoded next; nil before the first one and while a loss or a
  /// silence is filled.
  package var expectedFrame: Int64? {
    @_noAllocation @_noLocks get {
      guard let expected, !phase.isWaiting, concealedSinceExpected == 0 else { return nil }
      return expected.mediaFrame
    }
  }

  /// Returns the change of delay that an output with `queuedFrames` unplayed at `now` needs.
  ///
  /// Call it once after decoding. The output `isQuiet` if nothing in it is audible.
  @_noAllocation @_noLocks
  package mutating func correction(
    at now: MonotonicInstant,
    queuedFrames: FrameCount,
    isQuiet: Bool
  ) -> Correction {
    guard let expected, !phase.isWaiting, concealedSinceExpected == 0,
      let held = target.delay(
        ofFrame: expected.mediaFrame,
        at: now.advanced(byNanoseconds: SampleRate.voice.nanoseconds(of: queuedFrames))
      )
    else {
      steering = 0
      return .none
    }

    drift.note(packetFrames, isQuiet: isQuiet)
    // What the ratio has done to the delay since the last time is known; of the rest a sixteenth
    // per packet, or per 20 ms, smooths the grain of the player's requests; a step is taken at
    // once, and the first delay of all as it is.
    let steered = Int64(steering * Double(SampleRate.voice.nanoseconds(of: packetFrames)))
    var delay = smoothedDelay.map { $0 - steered } ?? held
    let difference = held - delay
    let share = Int64(max(960, packetFrames))
    delay += abs(difference) > 10_000_000 ? difference : difference * share / 15_360
    smoothedDelay = delay

    let excess = delay - target.nanoseconds
    let isUrgent = mechanisms.urgentCut && lastingExcess.isUrgent(excess, at: now)
    let bearable = drift.isSettling ? 2 * Self.stretchThreshold : Self.stretchThreshold
    let isStretched = excess > bearable || excess < -Self.stretchThreshold
    let ratio =
      isStretched
      ? 1 + (excess > 0 ? DriftControl.limit : -DriftControl.limit)
      : drift.ratio(forExcess: excess, over: packetFrames)
    steering = ratio - 1 - drift.learned
    guard isStretched else { return Correction(ratio: ratio, stretch: .none) }
    let frames = SampleRate.voice.frames(inNanoseconds: abs(excess))
    return Correction(
      ratio: ratio,
      stretch: excess > 0
        ? .shorten(frames: frames, isUrgent: isUrgent) : .lengthen(frames: frames)
    )
  }

  /// Notes that the last `frames` that were concealed were not played, and are no longer queued.
  @_noAllocation @_noLocks
  package mutating func takeBack(_ frames: FrameCount) {
    counters.concealedFrames = max(0, counters.concealedFrames - Int64(frames))
    concealedSinceExpected = max(0, concealedSinceExpected - frames)
  }

  /// Notes that time-stretching removed `frames` (added, if negative).
  @_noAllocation @_noLocks
  package mutating func noteStretch(removedFrames frames: FrameCount) {
    smoothedDelay = smoothedDelay.map { $0 - SampleRate.voice.nanoseconds(of: frames) }
  }

  @_noAllocation @_noLocks
  private mutating func learn(
    mediaFrame: Int64,
    frames: FrameCount,
    at arrival: MonotonicInstant,
    wait: Int64
  ) {
    target.update(
      mediaFrame: mediaFrame,
      frames: frames,
      arrival: arrival,
      wait: wait,
      isUsual: isUsual(arrival)
    )
  }

  // What comes while the device stands still, or finds its pace again, says nothing about the path.
  @_noAllocation @_noLocks
  private func isUsual(_ arrival: MonotonicInstant) -> Bool {
    !isInterrupted && arrival >= settledFrom
  }

  // A time base that jumps: backwards with a newer number, or ahead of the clock by a second.
  @_noAllocation @_noLocks
  private func isJump(sequence: Int64, mediaFrame: Int64, at arrival: MonotonicInstant) -> Bool {
    guard let newest = newestArrival, sequence > newest.sequence else { return false }
    if mediaFrame < newest.mediaFrame { return true }
    let mediaStep = SampleRate.voice.nanoseconds(of: Int(mediaFrame - newest.mediaFrame))
    return mediaStep - arrival.nanoseconds(since: newest.instant) > Self.timestampJump
  }

  private var concealmentFrames: FrameCount {
    @_noAllocation @_noLocks get { min(packetFrames, Self.concealmentChunk) }
  }

  @_noAllocation @_noLocks
  private mutating func starve() -> Step {
    switch phase {
    case .empty:
      return .silence(frames: concealmentFrames)
    case .silent, .waiting(.comfortNoise):
      phase.wait()
      return .comfort(frames: concealmentFrames)
    case .playing, .waiting(.concealment):
      if concealedSinceExpected >= Self.fadedFrames { phase.wait() }
      return conceal(concealmentFrames)
    }
  }

  @_noAllocation @_noLocks
  private mutating func conceal(_ frames: FrameCount) -> Step {
    counters.concealedFrames += Int64(frames)
    concealedSinceExpected += frames
    return .conceal(frames: frames)
  }

  @_noAllocation @_noLocks
  private mutating func playWhenDue(_ packet: StoredPacket, at playTime: MonotonicInstant) -> Step {
    let held = target.delay(ofFrame: packet.mediaFrame, at: playTime) ?? 0
    let wait = SampleRate.voice.frames(inNanoseconds: target.nanoseconds - held)
    // Half of the finest step a decoder can conceal is as near as waiting gets.
    guard wait > 60 else {
      return phase.isEmpty ? begin(packet, late: -wait) : play(packet)
    }
    // SILK conceals 10 ms at a time: for its packets a shorter wait is no wait.
    let isLong = packetFrames >= Self.concealmentChunk
    let grain = isLong ? Self.concealmentChunk : Self.leastConcealment
    guard wait > grain / 2 || phase.isEmpty else { return play(packet) }
    let frames = min(max(grain, wait / grain * grain), concealmentFrames)
    guard !phase.isEmpty else { return .silence(frames: frames) }
    return phase.isSilent ? .comfort(frames: frames) : conceal(frames)
  }

  // What was concealed beyond what is missing before the packet makes it late, even if nothing is
  // left out of it.
  @_noAllocation @_noLocks
  mutating func play(_ packet: StoredPacket, skipping: FrameCount = 0) -> Step {
    let lost = expected.map { Int(clamping: packet.mediaFrame - $0.mediaFrame) }
    let isLate = skipping > 0 || !phase.isSilent && concealedSinceExpected > lost ?? .max
    store.removeAll(before: packet.sequence + 1)
    played.insert(packet.sequence)
    expected = (packet.sequence + 1, packet.mediaFrame + Int64(packet.frames))
    concealedSinceExpected = 0
    // A sentence begins.
    if !phase.isPlaying { drift.noteInterruption() }
    if packet.frames != packetFrames { drift.noteOtherPackets() }
    packetFrames = packet.frames
    if phase.isEmpty { isInterrupted = false }
    phase = packet.isSilence ? .silent : .playing
    if packet.isCopy {
      counters.recoveredFrames += Int64(packet.frames - skipping)
    } else {
      counters.decodedFrames += Int64(packet.frames - skipping)
    }
    let slot = store.slot(of: packet.sequence)
    let missing = max(0, lost ?? Self.fadedFrames)
    guard isLate else { return .decode(slot: slot, frames: packet.frames, lost: missing) }
    return .decodeLate(slot: slot, frames: packet.frames, skipping: skipping, lost: missing)
  }

  // The in-band FEC of `packet`, of which no more than `missing` frames are still wanted.
  @_noAllocation @_noLocks
  private mutating func recover(
    from packet: StoredPacket,
    gap: FrameCount,
    missing: FrameCount
  ) -> Step {
    let frames = packet.redundantFrames
    let used = max(0, min(missing, frames))
    counters.recoveredFrames += Int64(used)
    expected = (packet.sequence, packet.mediaFrame)
    concealedSinceExpected = max(0, concealedSinceExpected + used - gap)
    return .recover(
      slot: store.slot(of: packet.sequence),
      frames: frames,
      skipping: frames - used,
      lost: gap - frames
    )
  }
}
