package import Foundation

/// Sound hardware with an exact clock: JACK's dummy driver at 48 kHz, of which ALSA's jack plugin
/// makes headsets.
///
/// **Life cycle:** the initialiser starts the server, `stop` ends it.
package final class JackServer {
  /// Frames that the server handles at a time, at 48 kHz.
  package static let period = 128
  /// The real-time priority of the server.
  private static let priority = 70
  /// The real-time priority of the thread that libjack adds to a program for each device, below the
  /// server's.
  package static let clientPriority = priority - 5

  /// Packages to install for the server; nil if all are there.
  package static var missing: String? {
    let isComplete = ["jackd", "jack_wait", "jack_lsp", "jack_connect"].allSatisfy {
      FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
    }
    return isComplete ? nil : "jackd2 libasound2-plugins"
  }

  /// Ports of the server that a headset plays to and captures from.
  package typealias Ports = (loudspeaker: String, microphone: String)
  /// The headsets `headsetA` and `headsetB` of the benchmarks' rig.
  package static let rig: [String: Ports] = [
    "headsetA": ("rig:spk0", "rig:mic0"), "headsetB": ("rig:spk1", "rig:mic1"),
  ]
  /// The ports of the dummy driver, which is silent.
  package static let hardware: Ports = ("system:playback_1", "system:capture_1")

  /// Environment in which programs find the devices.
  package let environment: [String: String]
  private let name = "sidetone-\(UUID().uuidString.prefix(8))"
  private let folder: URL
  private let server: RunningProgram

  /// Starts a server whose files lie in `folder`, with periods of 128 frames.
  package init(in folder: URL, headsets: [String: Ports] = rig) throws {
    self.folder = folder
    let log = folder.appendingPathComponent("jackd.log")
    let configuration = folder.appendingPathComponent("asound.conf")
    let devices = headsets.map { device, ports in
      """
      pcm.\(device)_raw { type jack playback_ports { 0 \(ports.loudspeaker) } \
      capture_ports { 0 \(ports.microphone) } }
      pcm.\(device) { type plug slave.pcm "\(device)_raw" }

      """
    }
    try ("</usr/share/alsa/alsa.conf>\n" + devices.joined())
      .write(to: configuration, atomically: true, encoding: .utf8)
    environment = [
      "JACK_DEFAULT_SERVER": name, "JACK_NO_AUDIO_RESERVATION": "1",
      "ALSA_CONFIG_PATH": configuration.path,
      // Two calls of one desktop would have to agree on one that is active.
      "DBUS_SESSION_BUS_ADDRESS": "",
      // The user's own lists are not the benchmarks' business.
      "XDG_DATA_HOME": folder.path,
    ]
    server = try RunningProgram(
      Invocation(
        "jackd",
        ["-n", name, "-R", "-P\(Self.priority)", "-S", "-d", "dummy", "-r", "48000"]
          + ["-p", "\(Self.period)"]
      ),
      environment: environment,
      log: log
    )
    // The socket is there before clients are served.
    guard server.waits(for: "self-connect-mode", seconds: Patience.limit)
    else { throw RigError("jackd did not start: \(server.output)") }
    try run("jack_wait", ["-s", name, "-w", "-t", "\(Int(Patience.limit))"])
  }

  /// Lets this process find the server and its devices as well.
  package func exportEnvironment() {
    for (name, value) in environment { unsafe setenv(name, value, 1) }
  }

  /// Connects the playback of programs that use ALSA's plugin to their capture.
  ///
  /// Waits until a program does both.
  package func letMicrophonesHearLoudspeakers() throws {
    var (outputs, inputs): ([String], [String]) = ([], [])
    let arePresent = try Patience.waits {
      let list = try RunningProgram(
        Invocation("jack_lsp", ["-s", name]),
        environment: environment,
        log: folder.appendingPathComponent("ports.log")
      )
      guard list.waitForExit() == 0 else { return false }
      let ports = list.output.split(separator: "\n").map(String.init)
      outputs = ports.filter { $0.contains(":out_") }
      inputs = ports.filter { $0.contains(":in_") }
      return !outputs.isEmpty && !inputs.isEmpty
    }
    guard arePresent else { throw RigError("no program has ports") }
    for output in outputs {
      for input in inputs { try run("jack_connect", ["-s", name, output, input]) }
    }
  }

  /// Identifier of the server's process.
  package var processIdentifier: Int32 { server.processIdentifier }

  /// Times for which the machine kept the server waiting, in milliseconds.
  ///
  /// Meanwhile the server's clock, and so that of the headsets, stood still.
  package var stalls: [Double] {
    server.output.split(separator: "\n").compactMap { line -> Double? in
      let waits = line.split(separator: "XRun = ").dropFirst().first
      guard let number = waits?.split(separator: " ").first else { return nil }
      return Double(number).map { $0 / 1_000 }
    }
  }

  /// Number of stalls longer than a period; each moves one side's clock against the other's.
  package static func longOnes(among stalls: [Double]) -> Int {
    stalls.count { $0 > Double(period) / 48 }
  }

  /// Ends the server.
  package func stop() {
    server.stop()
  }
}
