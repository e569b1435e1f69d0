package import MediaCore

/// Which moment of the far side's microphone is heard, as lip synchronisation and measurements of
/// delay need it.
package struct PlayoutPosition: Equatable, Sendable, BitwiseCopyable {
  /// The RTP timestamp of the first frame that has not been decoded yet.
  package var timestamp: RTPTimestamp
  /// How many frames at 48 kHz will be rendered before it.
  package var queuedFrames: FrameCount
}
