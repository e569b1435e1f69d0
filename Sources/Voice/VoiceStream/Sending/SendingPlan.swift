import MediaCore
import Codecs

/// Parameters for sending a voice, which are decided together.
struct SendingPlan: Sendable, BitwiseCopyable {
  /// Use that the encoder is tuned for.
  var application: OpusVoiceEncoder.Application
  /// Frames per packet at 48 kHz.
  var packetFrames: FrameCount
  /// Bits per second of one payload's voice.
  var bitrate: Int
  /// Number of earlier payloads that each packet repeats (RFC 2198).
  var redundancyDepth: Int
  /// Distance of the oldest copy from its original, in packets; the other copies are spaced evenly.
  var redundancyReach: Int
  /// Packet loss that in-band redundancy is made for, 0 to 25 %; 0 for none.
  var expectedLossPercent: Int

  @_noAllocation @_noLocks
  init(
    application: OpusVoiceEncoder.Application,
    packetFrames: FrameCount,
    bitrate: Int,
    redundancyDepth: Int,
    redundancyReach: Int,
    expectedLossPercent: Int
  ) {
    self.application = application
    self.packetFrames = packetFrames
    self.bitrate = bitrate
    self.redundancyDepth = redundancyDepth
    self.redundancyReach = redundancyReach
    self.expectedLossPercent = expectedLossPercent
  }

  /// True for the encoder with less look-ahead.
  var isLowDelay: Bool {
    @_noAllocation @_noLocks get {
      switch application {
      case .lowDelay: return true
      case .speech: return false
      }
    }
  }

  /// True if `other` has the same parameters.
  @_noAllocation @_noLocks
  func isSame(as other: SendingPlan) -> Bool {
    isLowDelay == other.isLowDelay && packetFrames == other.packetFrames
      && bitrate == other.bitrate && redundancyDepth == other.redundancyDepth
      && redundancyReach == other.redundancyReach
      && expectedLossPercent == other.expectedLossPercent
  }
}
