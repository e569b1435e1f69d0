package import MediaCore

/// Position of playback in the far side's stream, for lip synchronisation and measurements of
/// delay.
package struct PlayoutPosition: Equatable, Sendable, BitwiseCopyable {
  /// The RTP timestamp of the first frame that has not been decoded yet.
  package var timestamp: RTPTimestamp
  /// Number of frames at 48 kHz that will be rendered before it.
  package var queuedFrames: FrameCount
}
