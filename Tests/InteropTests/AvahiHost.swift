import Foundation
import Testing

/// Services by which a host of `TwoHosts` is found by name: bus and Avahi, with the folders of its
/// user.
///
/// **Life cycle:** started by the initialiser, ended by `deinit`.
final class AvahiHost {
  let environment: [String: String]
  private let hosts: TwoHosts
  private let host: Int
  private let programs: [ProgramRun]

  init(on host: Int, of hosts: TwoHosts, avahi: String, bus: String) throws {
    self.hosts = hosts
    self.host = host
    let folder = try Bench.folder()
    let socket = folder.appendingPathComponent("bus").path
    let address = "unix:path=\(socket)"
    let configuration = folder.appendingPathComponent("bus.conf").path
    try """
    <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
     "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
    <busconfig>
      <listen>\(address)</listen>
      <auth>EXTERNAL</auth>
      <policy context="default">
        <allow send_destination="*"/><allow own="*"/><allow receive_sender="*"/>
      </policy>
    </busconfig>
    """.write(toFile: configuration, atomically: true, encoding: .utf8)
    let daemon = try hosts.run(
      bus,
      on: host,
      ["--config-file", configuration, "--print-address", "--nofork", "--nopidfile"]
    )
    #expect(daemon.wait(for: "unix:path"), "\(daemon.output)")
    let settings = folder.appendingPathComponent("avahi.conf").path
    try """
    [server]
    host-name=host\(host)
    use-ipv6=no
    [publish]
    publish-workstation=no
    """.write(toFile: settings, atomically: true, encoding: .utf8)
    environment = [
      "DBUS_SYSTEM_BUS_ADDRESS": address,
      "XDG_DATA_HOME": folder.appendingPathComponent("data").path,
    ]
    // Each has the folder of its process number to itself.
    let command = """
      mkdir -p /run/avahi-daemon && mount -t tmpfs none /run/avahi-daemon
      exec \(avahi) -f \(settings) --no-drop-root --no-chroot --no-rlimits
      """
    let responder = try hosts.run(
      "/bin/sh",
      on: host,
      ["-c", command],
      environment: environment
    )
    #expect(responder.wait(for: "Server startup complete"), "\(responder.output)")
    programs = [daemon, responder]
  }

  deinit {
    for program in programs.reversed() {
      program.signal(SIGKILL)
      _ = program.waitForExit()
    }
  }

  /// Starts the program under test on the host.
  func start(_ arguments: [String]) throws -> ProgramRun {
    try hosts.start(on: host, arguments, environment: environment)
  }

  /// Two hosts on one cable, each with a bus and Avahi of its own; nil, and the test noted as
  /// skipped, if something is missing.
  static func pair(_ addressing: TwoHosts.Addressing = .usual) throws -> (
    TwoHosts, [AvahiHost]
  )? {
    guard let ip = Bench.ip, let avahi = Bench.find("avahi-daemon"),
      let bus = Bench.find("dbus-daemon"), let hosts = try TwoHosts(ip, addressing)
    else {
      Bench.skip("avahi-daemon dbus iproute2 root")
      return nil
    }
    let services = try (0...1).map {
      try AvahiHost(on: $0, of: hosts, avahi: avahi, bus: bus)
    }
    return (hosts, services)
  }
}
