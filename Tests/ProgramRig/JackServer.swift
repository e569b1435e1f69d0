package import Foundation

/// Sound hardware with an exact clock: JACK's dummy driver at 48 kHz, of which ALSA's jack plugin
/// makes the devices `headsetA` and `headsetB`.
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

  /// What programs need in their environment to find the devices.
  package let environment: [String: String]
  private let server: RunningProgram
  /// Starts a server whose files lie in `folder`, with periods of 128 frames.
  package init(in folder: URL) throws {
    let name = "sidetone-\(UUID().uuidString.prefix(8))"
    let log = folder.appendingPathComponent("jackd.log")
    let configuration = folder.appendingPathComponent("asound.conf")
    let devices = [("headsetA", 0), ("headsetB", 1)].map { device, side in
      """
      pcm.\(device)_raw { type jack playback_ports { 0 rig:spk\(side) } \
      capture_ports { 0 rig:mic\(side) } }
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
    for (name, value) in environment { unsafe setenv(name, value, 1) }
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
    guard server.waits(for: "self-connect-mode", seconds: 5)
    else { throw RigError("jackd did not start: \(server.output)") }
    Thread.sleep(forTimeInterval: 1)
  }

  /// The server's process.
  package var processIdentifier: Int32 { server.processIdentifier }

  /// For how long the machine kept the server waiting, each time, in milliseconds: its clock, and
  /// so the headsets', stood still.
  package var stalls: [Double] {
    server.output.split(separator: "\n").compactMap { line -> Double? in
      let waits = line.split(separator: "XRun = ").dropFirst().first
      guard let number = waits?.split(separator: " ").first else { return nil }
      return Double(number).map { $0 / 1_000 }
    }
  }

  /// How many of these waits were longer than a period, of which each moves one side's clock
  /// against the other's.
  package static func longOnes(among stalls: [Double]) -> Int {
    stalls.count { $0 > Double(period) / 48 }
  }

  /// Ends the server.
  package func stop() {
    server.stop()
  }
}
