import MediaTime
import SpeechDSP

/// A way to make a call.
struct CostSetting {
  let name: String
  let packetFrames: FrameCount
  let bitrate: Int
  let filters: SpeechFilterSettings
  /// The period of the device, which is how often the voice thread wakes.
  let periodNanoseconds: Int64

  private init(
    packetMilliseconds: Int,
    bitrate: Int,
    periodMilliseconds: Double = 2.5,
    areFiltersOn: Bool = false
  ) {
    packetFrames = 48 * packetMilliseconds
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

  static var all: [CostSetting] {
    [
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
      CostSetting(packetMilliseconds: 5, bitrate: 96_000),
    ]
  }
}
