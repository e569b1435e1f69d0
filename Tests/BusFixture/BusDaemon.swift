package import Foundation
import Glibc
import Testing

/// A bus that ends with the test.
package final class BusDaemon {
  private static func configuration(at path: String, servicesIn folder: URL?) -> String {
    """
    <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
     "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
    <busconfig>
      <type>session</type>
      <listen>unix:path=\(path)</listen>
      <auth>EXTERNAL</auth>
      \(folder.map { "<servicedir>\($0.path)</servicedir>" } ?? "")
      <policy context="default">
        <allow send_destination="*" eavesdrop="true"/>
        <allow eavesdrop="true"/>
        <allow own="*"/>
      </policy>
    </busconfig>
    """
  }

  private let path: String
  private let configuration: String
  private var process: Process?

  /// Address without the identifier that each start gives a bus, so that it is the same after a
  /// restart.
  package var address: String { "unix:path=\(path)" }

  /// A bus that starts the services of the folder's files, or none: the machine's own must not
  /// answer.
  package init?(servicesIn folder: URL? = nil) throws {
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/dbus-daemon") else {
      print("skipped for lack of: dbus")
      return nil
    }
    // The path of a socket must be short.
    path = "/tmp/bus-\(UUID().uuidString)"
    configuration = Self.configuration(at: path, servicesIn: folder)
    try start()
  }

  /// Starts the bus again after `stop`.
  package func start() throws {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("bus-\(UUID().uuidString).conf")
    try configuration.write(to: file, atomically: true, encoding: .utf8)
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
    process.arguments = [
      "--config-file", file.path, "--print-address", "--nofork", "--nopidfile",
    ]
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    // It prints its address once it has read its configuration and listens.
    _ = output.fileHandleForReading.availableData
    try? FileManager.default.removeItem(at: file)
    self.process = process
  }

  /// Ends the bus as a crash does.
  package func stop() {
    guard let process else { return }
    self.process = nil
    // It has inherited the signals that the starting thread blocks, the polite one among them.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Suspends the bus until `thaw`, as if it hung.
  package func freeze() { signal(SIGSTOP) }

  /// Resumes the bus.
  package func thaw() { signal(SIGCONT) }

  private func signal(_ number: Int32) {
    if let process { kill(process.processIdentifier, number) }
  }

  deinit {
    stop()
    try? FileManager.default.removeItem(atPath: path)
  }
}
