package import MediaCore

/// Queries about the next packet, before `next` is called.
extension JitterBuffer {
  /// Longest loss that is concealed early, 100 ms at 48 kHz.
  private static var repairableFrames: FrameCount { @_noAllocation @_noLocks get { 4_800 } }

  /// True if the packet that `next` would decode is stored and follows without a gap.
  ///
  /// More output can then be decoded early, for a time-stretch that needs it; by a second step, if
  /// the first only advances the decoder.
  package var canDecodeAhead: Bool {
    @_noAllocation @_noLocks get { following.map { $0.missing == 0 } ?? false }
  }

  /// True if the packet after a loss is stored.
  ///
  /// The missing span can then be concealed early, for two-sided concealment.
  package var canRepair: Bool {
    @_noAllocation @_noLocks get {
      guard !phase.isSilent, let expected, let (packet, _, missing) = following else {
        return false
      }
      return missing > 0 && missing <= Self.repairableFrames
        && packet.sequence > expected.sequence
    }
  }

  /// Returns how many of the newest `unplayed` frames, all concealed, the next packet or its
  /// in-band FEC can replace; 0 if it has not arrived.
  ///
  /// Take that many frames back (`takeBack`) before calling `next`.
  @_noAllocation @_noLocks
  package func replaceableFrames(of unplayed: FrameCount) -> FrameCount {
    guard !phase.isSilent, let (packet, gap, missing) = following else { return 0 }
    // What is all of the past replaces nothing.
    guard missing + packet.frames + unplayed > 0 else { return 0 }
    let begin = bringsFormer(packet, gap: gap) ? missing - packet.redundantFrames : missing
    return max(0, min(unplayed, -begin))
  }

  // The next packet that is here, the media time between it and the last one, and how much of
  // that must still be concealed, less than nothing if it is late; nil if none is here, or if it is
  // still to be seen when to play it.
  private var following: (packet: StoredPacket, gap: FrameCount, missing: FrameCount)? {
    @_noAllocation @_noLocks get {
      guard let expected, !phase.isWaiting, let front = store.first(from: expected.sequence) else {
        return nil
      }
      let gap = Int(clamping: front.mediaFrame - expected.mediaFrame)
      if front.sequence == expected.sequence, isPause(gap) { return nil }
      return (front, gap, gap - concealedSinceExpected)
    }
  }

  // Consecutive numbers with a jump in time: the sender was silent (RFC 7587 section 3.1.3).
  @_noAllocation @_noLocks
  func isPause(_ gap: FrameCount) -> Bool {
    gap > 0 && (phase.isSilent || gap > packetFrames)
  }

  // True if a packet stands for the end of the lost one before it as well.
  @_noAllocation @_noLocks
  func bringsFormer(_ packet: StoredPacket, gap: FrameCount) -> Bool {
    guard let expected, packet.sequence > expected.sequence else { return false }
    return packet.redundantFrames > 0 && gap >= packet.redundantFrames
  }
}
