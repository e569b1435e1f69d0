package import MediaCore

/// Handling of packets that are later than the target delay.
extension JitterBuffer {
  /// Largest lateness, in frames at 48 kHz, that counts as jitter.
  private static var jitterFrames: FrameCount { 1_920 }
  /// Largest excess, 1 ms at 48 kHz, that is not worth a splice.
  private static var audibleFrames: FrameCount { 48 }
  /// Largest error of the delay, 5 ms at 48 kHz, that resampling corrects.
  private static var steeredFrames: FrameCount { @_noAllocation @_noLocks get { 240 } }
  private static var steeringInterval: Int64 { 1_000_000_000 }

  /// Notes that the loudspeaker is gone, or resumes after a stall.
  ///
  /// When playout resumes, the excess over the target delay is dropped. Delays are learned again
  /// shortly after.
  @_noAllocation @_noLocks
  package mutating func noteInterruption() {
    isInterrupted = true
    drift.noteInterruption()
  }

  /// Notes that a loudspeaker that stalled asks for several periods at once.
  ///
  /// Packets that arrive up to `end` only seem late: their delay is not learned.
  @_noAllocation @_noLocks
  package mutating func noteCatchingUp(until end: MonotonicInstant) {
    settledFrom = max(settledFrom, end.advanced(byNanoseconds: 1))
  }

  // A few milliseconds of lateness are skipped rather than kept as delay, unless they persist.
  @_noAllocation @_noLocks
  mutating func isSteered(late: FrameCount, at playTime: MonotonicInstant) -> Bool {
    guard mechanisms.steeredLateness, late <= Self.steeredFrames else { return false }
    guard let (begin, last) = steered, playTime.nanoseconds(since: last) < Self.steeringInterval
    else {
      steered = (playTime, playTime)
      drift.noteInterruption()
      return true
    }
    steered = (begin, playTime)
    // The next packets of the same event may be short ones.
    return playTime.nanoseconds(since: begin)
      <= SampleRate.voice.nanoseconds(of: Self.steeredFrames)
  }

  // How much of a late packet to skip: what lies beyond the target delay.
  @_noAllocation @_noLocks
  func excess(
    held: Int64,
    late: FrameCount,
    at playTime: MonotonicInstant
  ) -> FrameCount {
    var bound = target.nanoseconds
    // After a stall the newest packet is in time. If it is as late, the path has become slower.
    if late > Self.jitterFrames {
      bound = max(bound, target.delay(ofFrame: store.newestFrame, at: playTime) ?? 0)
    }
    let excess = SampleRate.voice.frames(inNanoseconds: max(0, held - bound))
    return mechanisms.lateTrim && excess > Self.audibleFrames ? min(late, excess) : 0
  }

  @_noAllocation @_noLocks
  mutating func playLate(
    _ packet: StoredPacket,
    late: FrameCount,
    skipping: FrameCount
  ) -> Step {
    var packet = packet
    var (late, skipping) = (late, skipping)
    // What is left out whole is decoded for the decoder's sake, but the last two are enough for
    // that.
    while skipping > 3 * packet.frames, let following = store.first(from: packet.sequence + 1) {
      let step = Int(clamping: following.mediaFrame - packet.mediaFrame)
      guard step > 0, step < skipping else { break }
      played.insert(packet.sequence)
      store.remove(packet.sequence)
      counters.skippedPackets += 1
      (late, skipping) = (late - step, skipping - step)
      packet = following
    }
    let skipped = min(skipping, packet.frames)
    let wasWaiting = phase.isWaiting
    let step = play(packet, skipping: skipped)
    if skipped == packet.frames {
      counters.skippedPackets += 1
      concealedSinceExpected = late - skipped
      if wasWaiting { phase.wait() }
    }
    return step
  }

  // The first sound of all, without what the target does not ask to wait for: the loss is
  // inaudible, and without a pause in the speech it would take seconds to get rid of it.
  @_noAllocation @_noLocks
  mutating func begin(_ packet: StoredPacket, late: FrameCount) -> Step {
    guard mechanisms.firstTrim, late > Self.audibleFrames else { return play(packet) }
    return play(packet, skipping: min(late, packet.frames - Self.audibleFrames))
  }

  // After an interruption, without what it has already cost: another splice there is inaudible. Nil
  // if nothing is to be left out.
  @_noAllocation @_noLocks
  mutating func goOn(from front: StoredPacket, at playTime: MonotonicInstant) -> Step? {
    let bearable = SampleRate.voice.nanoseconds(of: front.frames)
    let packet = skip(from: front, playTime: playTime, leaving: bearable)
    let held = target.delay(ofFrame: packet.mediaFrame, at: playTime) ?? 0
    let excess = SampleRate.voice.frames(inNanoseconds: max(0, held - target.nanoseconds))
    guard excess > Self.audibleFrames || packet.sequence > front.sequence else { return nil }
    // What follows after a gap may not be due: it is waited for as after any silence.
    if held < target.nanoseconds - Self.skipAhead {
      phase.wait()
      return nil
    }
    // A little is left out at least, so that the joint is a soft one.
    let skipping = max(excess, Self.audibleFrames)
    return play(packet, skipping: min(skipping, packet.frames - Self.audibleFrames))
  }

  // Drops what has waited too long, up to the first packet within `excess` of the target.
  @_noAllocation @_noLocks
  mutating func skip(
    from front: StoredPacket,
    playTime: MonotonicInstant,
    leaving excess: Int64
  ) -> StoredPacket {
    var packet = front
    while let following = store.first(from: packet.sequence + 1),
      let held = target.delay(ofFrame: packet.mediaFrame, at: playTime),
      held - target.nanoseconds > excess
    {
      played.insert(packet.sequence)
      store.remove(packet.sequence)
      counters.skippedPackets += 1
      packet = following
    }
    return packet
  }
}
