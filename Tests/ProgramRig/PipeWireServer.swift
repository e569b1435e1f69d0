package import Foundation

/// A desktop's sound: a session bus, PipeWire with its session manager and PulseAudio's protocol,
/// and a headset whose microphone hears its loudspeaker, as default sink and source.
///
/// **Life cycle:** the initialiser starts it, `stop` ends it; between them it can be restarted.
package final class PipeWireServer {
  /// Packages to install for the server; nil if all are there.
  package static var missing: String? {
    let needed = [
      "pipewire", "wireplumber", "pipewire-pulse", "pactl", "pw-cli", "pw-metadata", "dbus-daemon",
    ]
    let isComplete = needed.allSatisfy {
      FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
    }
    return isComplete
      ? nil : "pipewire pipewire-alsa pipewire-pulse wireplumber pulseaudio-utils dbus"
  }

  /// Environment in which programs find the server.
  package let environment: [String: String]
  private let folder: URL
  private let bus: RunningProgram
  private var programs: [RunningProgram] = []

  /// Frames that the graph handles at a time, at 48 kHz.
  private let quantum: Int

  /// Starts everything, with files in `folder` and cycles of `quantum` frames at 48 kHz.
  package init(in folder: URL, quantum: Int = 256) throws {
    self.folder = folder
    self.quantum = quantum
    let place = folder.appendingPathComponent("runtime")
    try FileManager.default.createDirectory(
      at: place,
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
    let address = "unix:path=\(place.path)/bus"
    bus = try RunningProgram(
      Invocation(
        "dbus-daemon",
        ["--session", "--nofork", "--nopidfile", "--print-address", "--address=\(address)"]
      ),
      environment: [:],
      log: folder.appendingPathComponent("bus.log")
    )
    environment = [
      "XDG_RUNTIME_DIR": place.path, "DBUS_SESSION_BUS_ADDRESS": address,
      "HOME": folder.path, "XDG_DATA_HOME": folder.path, "XDG_STATE_HOME": folder.path,
      "XDG_CONFIG_HOME": folder.path, "PIPEWIRE_RUNTIME_DIR": place.path,
    ]
    guard bus.waits(for: "unix:", seconds: Patience.limit) else {
      throw RigError("no bus: \(bus.output)")
    }
    try start()
  }

  /// Forces cycles of `frames` frames on the graph.
  package func force(quantum frames: Int) throws {
    _ = try tell("pw-metadata", "-n settings 0 clock.force-quantum \(frames)")
  }

  /// Starts a program that plays a file to the default device, and forces cycles of `frames` frames
  /// by a property of its node, which the server's settings do not show.
  package func play(_ file: URL, forcing frames: Int) throws -> RunningProgram {
    try RunningProgram(
      Invocation("pw-play", [file.path]),
      environment: environment.merging(
        ["PIPEWIRE_PROPS": "{ node.force-quantum = \(frames) }"]
      ) { $1 },
      log: folder.appendingPathComponent("pw-play.log")
    )
  }

  /// Starts the server again after `crash`.
  package func start() throws {
    try run("pipewire")
    // The session manager ends if there is nothing to manage yet, and without it nothing has a
    // default device.
    try wait { try tell("pw-cli", "info 0") }
    try run("wireplumber")
    try run("pipewire-pulse")
    try wait { try tell("pactl", "info") }
    // Its monitor is the microphone.
    try tell("pactl", "load-module module-null-sink sink_name=headset rate=48000 channel_map=mono")
    try wait { try tell("pactl", "set-default-sink headset") }
    try wait { try tell("pactl", "set-default-source headset.monitor") }
    try tell("pw-metadata", "-n settings 0 clock.force-quantum \(quantum)")
  }

  private func run(_ name: String) throws {
    programs.append(
      try RunningProgram(
        Invocation(name, []),
        environment: environment,
        log: folder.appendingPathComponent("\(name).log")
      )
    )
  }

  // What was started answers when it is ready.
  func wait(for action: () throws -> Void) throws {
    guard !Patience.waits(until: { (try? action()) != nil }) else { return }
    try action()
  }

  /// Number of programs' streams with a role, by PulseAudio's name for it (`media.role`).
  package func streams(withRole role: String) throws -> Int {
    try ["sink-inputs", "source-outputs"].reduce(0) { count, kind in
      let listed = try tell("pactl", "list \(kind)")
      return count + listed.components(separatedBy: "media.role = \"\(role)\"").count - 1
    }
  }

  @discardableResult
  func tell(_ program: String, _ arguments: String) throws -> String {
    let told = try RunningProgram(
      Invocation(program, arguments.split(separator: " ").map(String.init)),
      environment: environment,
      log: folder.appendingPathComponent("\(program).log")
    )
    guard told.waitForExit() == 0 else { throw RigError("\(program): \(told.output)") }
    return told.output
  }

  /// Ends the server as a crash does.
  package func crash() {
    for program in programs { program.crash() }
    programs = []
  }

  /// Lets the server hang until `thaw`.
  package func freeze() {
    for program in programs { program.freeze() }
  }

  /// Lets the server go on.
  package func thaw() {
    for program in programs { program.thaw() }
  }

  /// Ends everything.
  package func stop() {
    thaw()
    for program in programs { program.stop() }
    programs = []
    bus.stop()
  }
}
