package import Foundation

/// PipeWire with two headsets, each a null sink and a virtual source; the rig is a JACK client of
/// PipeWire's own libjack.
///
/// **Life cycle:** the initialiser starts it, `stop` ends it.
package final class PipeWireHeadsets: SoundServer {
  /// The folder of PipeWire's libjack (Debian's pipewire-jack).
  package static let jackFolder = "/usr/lib/x86_64-linux-gnu/pipewire-0.3/jack"

  /// Packages to install for it; nil if all are there.
  package static var missing: String? {
    let isThere = FileManager.default.fileExists(atPath: "\(jackFolder)/libjack.so.0")
    return isThere ? PipeWireServer.missing : "pipewire-jack"
  }

  private static let headsets = ["headsetA", "headsetB"]
  private let server: PipeWireServer
  package let environment: [String: String]

  /// Starts a server with files in `folder` and cycles of `quantum` frames; 0 for as few as the
  /// programs ask for.
  package init(in folder: URL, quantum: Int) throws {
    server = try PipeWireServer(in: folder, quantum: quantum)
    let configuration = folder.appendingPathComponent("asound.conf")
    let devices = Self.headsets.map { headset in
      """
      pcm.\(headset) { type pipewire playback_node "\(headset)" capture_node "\(headset)_mic" }

      """
    }
    try ("</usr/share/alsa/alsa.conf>\n" + devices.joined())
      .write(to: configuration, atomically: true, encoding: .utf8)
    environment = server.environment.merging([
      "ALSA_CONFIG_PATH": configuration.path,
      // Two calls of one desktop would hold each other.
      "DBUS_SESSION_BUS_ADDRESS": "",
    ]) { $1 }
    for headset in Self.headsets {
      try server.addNode(named: headset)
      try server.addNode(named: "\(headset)_mic", properties: "media.class=Audio/Source/Virtual")
    }
  }

  /// Empty, since PipeWire does not report stalls.
  package var stalls: [Double] { [] }

  package func exportEnvironment() {
    for (name, value) in environment { unsafe setenv(name, value, 1) }
    // A JACK client would keep the cycle as it is, whatever programs ask for.
    unsafe setenv("PIPEWIRE_PROPS", "{ node.lock-quantum = false }", 1)
  }

  package func connectRig() throws {
    for (side, headset) in Self.headsets.enumerated() {
      try server.link("rig:mic\(side)", to: "\(headset)_mic:input_MONO")
      try server.link("\(headset):monitor_MONO", to: "rig:spk\(side)")
    }
  }

  package func stop() { server.stop() }
}

extension PipeWireServer {
  /// Adds a null sink, or the node that `properties` describe.
  func addNode(named name: String, properties: String = "") throws {
    try tell(
      "pactl",
      "load-module module-null-sink sink_name=\(name) rate=48000 channel_map=mono \(properties)"
    )
  }

  /// Connects an output port to an input port, once both are there.
  func link(_ output: String, to input: String) throws {
    try wait { try tell("pw-link", "\(output) \(input)") }
  }
}
