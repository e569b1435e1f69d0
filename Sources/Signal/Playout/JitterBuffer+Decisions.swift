package import MediaCore

/// What a jitter buffer answers.
extension JitterBuffer {
  /// What became of an inserted packet.
  package enum Insertion: Equatable, Sendable, BitwiseCopyable {
    /// Copy the payload to this slot, and keep it there until a step names it.
    case stored(slot: Int)
    /// The same sequence number is waiting already.
    case duplicate
    /// Its moment has passed: something was played in its place.
    case late
  }

  /// What to append to the output next.
  ///
  /// Each names a number of frames at 48 kHz.
  package enum Step: Equatable, Sendable, BitwiseCopyable {
    /// Decode the payload in `slot`, before which `lost` frames are missing.
    case decode(slot: Int, frames: FrameCount, lost: FrameCount)
    /// Decode the payload in `slot`, before which `lost` frames are missing, though more than that
    /// was concealed, and leave out its first `skipping` frames, in whose place something else was
    /// played, or nothing yet; if that is all of it, the decoder only learns of it.
    case decodeLate(slot: Int, frames: FrameCount, skipping: FrameCount, lost: FrameCount)
    /// Decode the in-band redundancy in `slot`'s payload, which stands for the packet before it;
    /// the rest as for `decodeLate`.
    case recover(slot: Int, frames: FrameCount, skipping: FrameCount, lost: FrameCount)
    /// Let the decoder conceal a loss.
    case conceal(frames: FrameCount)
    /// Let the decoder continue its background noise: the sender is silent.
    case comfort(frames: FrameCount)
    /// Nothing was received yet.
    case silence(frames: FrameCount)
  }

  /// How the delay should change now.
  package struct Correction: Equatable, Sendable, BitwiseCopyable {
    /// Input frames for each output frame: within 0.2 % of 1, or 2 % in a pause.
    package private(set) var ratio: Double
    /// What is to be done at once.
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

    /// Limits the ratio to what is inaudible in speech: what was right in a pause is not right for
    /// the next packet.
    @_noAllocation @_noLocks
    package mutating func leavePause() { ratio = DriftControl.inaudible(ratio) }
  }

  /// A change of the delay by time-stretching.
  package enum Stretch: Equatable, Sendable, BitwiseCopyable {
    /// The ratio does enough.
    case none
    /// Take out up to this many frames; `isUrgent` relaxes the sound criterion.
    case shorten(frames: FrameCount, isUrgent: Bool)
    /// Put in up to this many frames.
    case lengthen(frames: FrameCount)
  }

  /// Counters since the beginning, in frames at 48 kHz or packets.
  package struct Counters: Equatable, Sendable, BitwiseCopyable {
    /// Frames decoded from packets.
    package var decodedFrames: Int64 = 0
    /// Frames invented for packets that had not come.
    package var concealedFrames: Int64 = 0
    /// Frames decoded from copies or in-band redundancy in later packets.
    package var recoveredFrames: Int64 = 0
    /// Packets that came after their moment.
    package var latePackets: Int64 = 0
    /// Packets that came twice.
    package var duplicatePackets: Int64 = 0
    /// Packets dropped to catch up after a stall, or left out whole since they came too late.
    package var skippedPackets: Int64 = 0
  }
}
