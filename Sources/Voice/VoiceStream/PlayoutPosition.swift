public import MediaCore

/// Which moment of the far side's microphone is heard, as lip synchronisation and measurements of
/// delay need it.
public struct PlayoutPosition: Equatable, Sendable, BitwiseCopyable {
  /// The RTP timestamp of the first frame that has not been decoded yet.
  public var timestamp: RTPTimestamp
  /// How many frames at 48 kHz will be rendered before it.
  public var queuedFrames: FrameCount
}
