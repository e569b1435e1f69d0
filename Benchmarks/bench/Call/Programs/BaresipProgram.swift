import ProgramRig
import Foundation
import Rig

/// baresip 1.0 with its ALSA and Opus modules.
struct BaresipProgram: CallProgram {
  let name: String
  let package = "baresip-core"
  let executable = "/usr/bin/baresip"
  private let bitrate: Int

  /// Creates baresip with mono Opus at that bit rate; its packets are 20 ms long.
  init(bitrate: Int) {
    self.bitrate = bitrate
    name = "baresip (\(bitrate / 1_000) kb/s, 20 ms)"
  }

  func answering(_ end: CallEnd, from far: CallEnd) throws -> [Invocation] {
    [try invocation(end, readiness: "baresip is ready")]
  }

  func calling(_ end: CallEnd, to far: CallEnd) throws -> [Invocation] {
    [try invocation(end, commands: ["-e", "/dial sip:b@\(far.host):\(far.port)"])]
  }

  private func invocation(
    _ end: CallEnd,
    readiness: String? = nil,
    commands: [String] = []
  ) throws -> Invocation {
    let folder = end.folder.appendingPathComponent("baresip-\(end.headset)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let lines = [
      "poll_method epoll", "sip_listen \(end.host):\(end.port)",
      "audio_player alsa,\(end.headset)", "audio_source alsa,\(end.headset)",
      "audio_alert alsa,null", "audio_channels 1", "ausrc_srate 48000", "auplay_srate 48000",
      "opus_bitrate \(bitrate)", "opus_application voip", "opus_complexity 9",
      "opus_stereo no", "opus_sprop_stereo no",
      "rtp_ports \(end.port + 2)-\(end.port + 9)", "module_path /usr/lib/baresip/modules",
      "module alsa.so", "module opus.so", "module_tmp account.so", "module_app menu.so",
    ]
    let files = [
      "config": lines.joined(separator: "\n") + "\n",
      "accounts": "<sip:b@\(end.host):\(end.port)>;regint=0;answermode=auto;audio_codecs=opus\n",
      "contacts": "",
    ]
    for (name, text) in files {
      let file = folder.appendingPathComponent(name)
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    return Invocation(executable, ["-f", folder.path] + commands, readiness: readiness)
  }
}
