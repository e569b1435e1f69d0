import MediaCore
import Codecs

/// How a voice is sent at the moment; all of it is decided together.
struct SendingPlan: Sendable, BitwiseCopyable {
  /// What the encoder is tuned for.
  var application: OpusVoiceEncoder.Application
  /// Frames per packet at 48 kHz.
  var packetFrames: FrameCount
  /// Bits per second of one payload's voice.
  var bitrate: Int
  /// How many earlier payloads each packet brings once more (RFC 2198).
  var redundancyDepth: Int
  /// How many packets earlier the oldest of them was sent; the others lie evenly between.
  var redundancyReach: Int
  /// The loss that in-band redundancy is made for, 0 to 25 %; 0 for none.
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

  /// True for the encoder that looks less far ahead.
  var isLowDelay: Bool {
    @_noAllocation @_noLocks get {
      switch application {
      case .lowDelay: return true
      case .speech: return false
      }
    }
  }

  /// True if the other one says the same.
  @_noAllocation @_noLocks
  func isSame(as other: SendingPlan) -> Bool {
    isLowDelay == other.isLowDelay && packetFrames == other.packetFrames
      && bitrate == other.bitrate && redundancyDepth == other.redundancyDepth
      && redundancyReach == other.redundancyReach
      && expectedLossPercent == other.expectedLossPercent
  }
}
