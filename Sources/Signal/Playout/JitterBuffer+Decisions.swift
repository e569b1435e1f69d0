package import MediaCore

/// Results that a jitter buffer returns.
extension JitterBuffer {
  /// Outcome of inserting a packet.
  package enum Insertion: Equatable, Sendable, BitwiseCopyable {
    /// The packet is stored: its payload goes to this slot, and stays there until a step names it.
    case stored(slot: Int)
    /// The packet is not needed: it arrived before, or is a copy that cannot be used.
    case duplicate
    /// The packet is too late to be played, or belongs to a former time base.
    case late
  }

  /// Next step of decoding, whose frames are appended to the output.
  ///
  /// Each case gives a number of frames at 48 kHz.
  package enum Step: Equatable, Sendable, BitwiseCopyable {
    /// Decode the payload in `slot`, before which `lost` frames are missing.
    case decode(slot: Int, frames: FrameCount, lost: FrameCount)
    /// Decode the payload in `slot` and drop its first `skipping` frames.
    ///
    /// Returned if more was concealed than the `lost` frames missing before the packet, or if its
    /// beginning is dropped to shorten the delay. If all frames are dropped, only the decoder's
    /// state advances.
    case decodeLate(slot: Int, frames: FrameCount, skipping: FrameCount, lost: FrameCount)
    /// Decode the in-band FEC in `slot`'s payload: the `frames` right before that packet.
    ///
    /// Drop the first `skipping` of them; `lost` frames are missing before them. The packet itself
    /// is decoded in a later step.
    case recover(slot: Int, frames: FrameCount, skipping: FrameCount, lost: FrameCount)
    /// Let the decoder conceal a loss.
    case conceal(frames: FrameCount)
    /// Let the decoder continue its background noise, as the sender is silent.
    case comfort(frames: FrameCount)
    /// Play silence, as nothing has been played yet.
    case silence(frames: FrameCount)
  }

  /// Change of the playout delay to make now.
  package struct Correction: Equatable, Sendable, BitwiseCopyable {
    /// Input frames for each output frame: within 0.2 % of 1, or 2 % in a pause.
    package private(set) var ratio: Double
    /// Time-stretching to do at once.
    package let stretch: Stretch

    @_noAllocation @_noLocks
    init(ratio: Double, stretch: Stretch) {
      self.ratio = ratio
      self.stretch = stretch
    }

    /// No change.
    package static var none: Correction {
      @_noAllocation @_noLocks get { Correction(ratio: 1, stretch: .none) }
    }

    /// Limits the ratio to what is inaudible in speech, since one that suits a pause does not suit
    /// the next packet.
    @_noAllocation @_noLocks
    package mutating func leavePause() { ratio = DriftControl.inaudible(ratio) }
  }

  /// A change of the delay by time-stretching.
  package enum Stretch: Equatable, Sendable, BitwiseCopyable {
    /// No stretching, as the ratio suffices.
    case none
    /// Remove up to this many frames; from speech only if `isUrgent`.
    case shorten(frames: FrameCount, isUrgent: Bool)
    /// Insert up to this many frames.
    case lengthen(frames: FrameCount)
  }

  /// Counters since the beginning, in frames at 48 kHz or packets.
  package struct Counters: Equatable, Sendable, BitwiseCopyable {
    /// Frames decoded from packets.
    package var decodedFrames: Int64 = 0
    /// Frames concealed for packets that had not arrived.
    package var concealedFrames: Int64 = 0
    /// Frames decoded from copies or in-band redundancy in later packets.
    package var recoveredFrames: Int64 = 0
    /// Packets that arrived too late to be played.
    package var latePackets: Int64 = 0
    /// Packets received twice.
    package var duplicatePackets: Int64 = 0
    /// Packets dropped to catch up after a stall, or dropped whole since they arrived too late.
    package var skippedPackets: Int64 = 0
  }
}
