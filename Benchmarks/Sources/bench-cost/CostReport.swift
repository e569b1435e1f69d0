import Foundation
import MediaTime
import Rig
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

/// What one setting cost, in milliseconds of processor time for each second of call.
struct CostRow: Codable {
  var setting: String
  /// A thread that wakes each 2.5 ms, as the voice thread does here, and does nothing.
  var idle: [Double] = []
  /// The libraries alone.
  var raw: [Double] = []
  /// The voice thread.
  var ours: [Double] = []
  /// The voice thread while it times each packet in each stage.
  var traced: [Double] = []

  init(setting: String) {
    self.setting = setting
  }

  /// What the voice thread costs beyond the libraries, of measurements that were made one after the other,
  /// in percent of the libraries.
  private var overheads: [Double] { zip(raw, ours).map { 100 * ($1 / $0 - 1) } }
  /// The same without what waking costs.
  private var awake: [Double] {
    zip(zip(raw, ours), idle).map { 100 * (($0.1 - $1) / $0.0 - 1) }
  }
  /// What timing the stages costs, in percent of the voice thread.
  private var tracing: Double { Percentiles(zip(ours, traced).map { 100 * ($1 / $0 - 1) }).median }

  var line: String {
    let all = Percentiles(overheads)
    let withoutWaking = Percentiles(awake)
    return String(
      format: "%@: libraries %.1f ms/s, waking alone %.1f, voice thread %.1f; overhead %.0f %% "
        + "(%.0f to %.0f), without waking %.0f %% (%.0f to %.0f); timing the stages %.1f %%",
      setting,
      Percentiles(raw).median,
      Percentiles(idle).median,
      Percentiles(ours).median,
      all.median,
      all(0),
      all(1),
      withoutWaking.median,
      withoutWaking(0),
      withoutWaking(1),
      tracing
    )
  }
}

/// All settings, as JSON.
struct CostReport: Codable {
  var date = Date()
  var machine = Machine()
  var rows: [CostRow]

  init(rows: [CostRow]) {
    self.rows = rows
  }

  /// Writes `cost.json`.
  func write(to folder: URL) throws {
    try ResultFile.write(self, named: "cost", to: folder)
  }
}
