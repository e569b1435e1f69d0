import MediaTime
import SpeechDSP

/// A way to make a call.
struct CostSetting {
  let name: String
  let packetFrames: FrameCount
  let bitrate: Int
  let filters: SpeechFilterSettings

  static var all: [CostSetting] {
    let every = SpeechFilterSettings(
      echoCancellation: true,
      noiseSuppression: true,
      gainControl: true
    )
    let none = SpeechFilterSettings()
    return [
      CostSetting(name: "10 ms, 48 kb/s", packetFrames: 480, bitrate: 48_000, filters: none),
      CostSetting(
        name: "10 ms, 48 kb/s, all filters",
        packetFrames: 480,
        bitrate: 48_000,
        filters: every
      ),
      CostSetting(name: "20 ms, 48 kb/s", packetFrames: 960, bitrate: 48_000, filters: none),
      CostSetting(name: "5 ms, 96 kb/s", packetFrames: 240, bitrate: 96_000, filters: none),
    ]
  }
}
