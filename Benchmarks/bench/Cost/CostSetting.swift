import MediaCore
import SpeechDSP
import VoiceEngine

/// Voice settings of a measured call.
struct CostSetting {
  let name: String
  let packetFrames: FrameCount
  let bitrate: Int
  let filters: SpeechFilterSettings
  /// Period of the device in nanoseconds; the voice thread wakes once in each.
  let periodNanoseconds: Int64

  private init(
    packetMilliseconds: Double,
    bitrate: Int,
    periodMilliseconds: Double = 2.5,
    areFiltersOn: Bool = false
  ) {
    packetFrames = Int(48 * packetMilliseconds)
    self.bitrate = bitrate
    periodNanoseconds = Int64(periodMilliseconds * 1e6)
    filters = SpeechFilterSettings(
      echoCancellation: areFiltersOn,
      noiseSuppression: areFiltersOn,
      gainControl: areFiltersOn
    )
    name =
      "\(packetMilliseconds) ms, \(bitrate / 1_000) kb/s, period \(periodMilliseconds) ms"
      + (areFiltersOn ? ", all filters" : "")
  }

  /// Configuration of the call's stream.
  var configuration: StreamConfiguration {
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 2)
    configuration.packetFrames = packetFrames
    configuration.bitrate = bitrate
    return configuration
  }

  /// Returns the number of packets in a call of that many seconds.
  func packetCount(in seconds: Int) -> Int { seconds * 48_000 / packetFrames }

  static var all: [CostSetting] {
    [
      // The default where the link bears it.
      CostSetting(packetMilliseconds: 2.5, bitrate: 128_000),
      CostSetting(packetMilliseconds: 5, bitrate: 96_000),
      CostSetting(packetMilliseconds: 10, bitrate: 48_000),
      CostSetting(packetMilliseconds: 10, bitrate: 48_000, areFiltersOn: true),
      CostSetting(packetMilliseconds: 20, bitrate: 48_000),
      CostSetting(packetMilliseconds: 20, bitrate: 48_000, periodMilliseconds: 20),
      CostSetting(
        packetMilliseconds: 20,
        bitrate: 48_000,
        periodMilliseconds: 20,
        areFiltersOn: true
      ),
    ]
  }
}
