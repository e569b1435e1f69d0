package import Foundation
import Glibc
import Testing

/// A bus that ends with the test.
package final class BusDaemon {
  private static func configuration(servicesIn folder: URL?) -> String {
    """
    <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
     "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
    <busconfig>
      <type>session</type>
      <listen>unix:tmpdir=/tmp</listen>
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

  private let process = Process()
  package let address: String

  /// A bus that starts the services of the folder's files, or none: the machine's own must not
  /// answer.
  package init?(servicesIn folder: URL? = nil) throws {
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/dbus-daemon") else {
      if ProcessInfo.processInfo.environment["CI"] != nil { Issue.record("needed in CI: dbus") }
      print("skipped: install dbus")
      return nil
    }
    let configuration = FileManager.default.temporaryDirectory
      .appendingPathComponent("bus-\(UUID().uuidString).conf")
    try Self.configuration(servicesIn: folder)
      .write(to: configuration, atomically: true, encoding: .utf8)
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
    process.arguments = [
      "--config-file", configuration.path, "--print-address", "--nofork", "--nopidfile",
    ]
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    // It has been read: the address comes after it.
    try? FileManager.default.removeItem(at: configuration)
    address = line.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  deinit {
    // It has inherited the signals that the starting thread blocks, the polite one among them.
    kill(process.processIdentifier, SIGKILL)
  }
}
