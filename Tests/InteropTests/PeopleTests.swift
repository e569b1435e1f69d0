import Foundation
import Testing

/// Two hosts on one cable, each with a message bus and Avahi of its own, find each other by name.
@Suite(.waiting, .serialized)
struct PeopleTests {
  /// What a host needs to be found: bus and Avahi, and the folders of its user.
  private final class Services {
    let environment: [String: String]
    private let programs: [ProgramRun]

    init(on host: Int, of hosts: TwoHosts, avahi: String, bus: String) throws {
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
  }

  private static func scene() throws -> (TwoHosts, [Services], publish: String)? {
    guard let ip = Bench.ip, let avahi = Bench.find("avahi-daemon"),
      let publish = Bench.find("avahi-publish"), let bus = Bench.find("dbus-daemon"),
      let hosts = try TwoHosts(ip)
    else {
      Bench.skip("avahi-daemon, avahi-utils, dbus and iproute2, run as root")
      return nil
    }
    let services = try (0...1).map {
      try Services(on: $0, of: hosts, avahi: avahi, bus: bus)
    }
    return (hosts, services, publish)
  }

  @Test func peopleAreFoundAndCalledByName() throws {
    guard let (hosts, services, _) = try Self.scene() else { return }
    defer { withExtendedLifetime((hosts, services)) {} }
    let people = try hosts.start(
      on: 0,
      ["people", "--json"],
      environment: services[0].environment
    )
    let listener = try hosts.start(
      on: 1,
      ["listen", "--answer", "--json", "--headset", "null"]
        + ["--user", "bob", "--name", "Bob Miller"],
      environment: services[1].environment
    )
    #expect(people.wait(for: "sip:bob@10.77.0.2"), "\(people.output)")
    #expect(people.printed("Bob Miller"))
    #expect(people.printed("new to you"))

    func call(_ name: String) throws -> ProgramRun {
      try hosts.start(
        on: 0,
        ["call", name, "--json", "--duration", "2", "--headset", "null"],
        environment: services[0].environment
      )
    }
    // Anybody can announce a name: without a terminal it is refused until the user has given it.
    let early = try call("BOB")
    #expect(early.waitForExit() == 1)
    #expect(early.printed("\"Bob Miller\" is sip:bob@10.77.0.2"), "\(early.output)")
    let first = try call("sip:bob@10.77.0.2")
    #expect(first.waitForExit() == 0, "\(first.output)")
    let naming = try hosts.start(
      on: 0,
      ["peers", "name", "bob@10.77.0.2", "Bob"],
      environment: services[0].environment
    )
    #expect(naming.waitForExit() == 0, "\(naming.output)")
    let caller = try call("BOB")
    #expect(caller.waitForExit() == 0, "\(caller.output)")
    #expect(caller.printed("\"encrypted\":true"), "\(caller.output)")
    listener.signal(SIGTERM)
    #expect(listener.waitForExit() == 0, "\(listener.output)")
    #expect(people.wait(for: "\"left\""), "\(people.output)")
    people.signal(SIGTERM)
    _ = people.waitForExit()

    let missing = try hosts.start(
      on: 0,
      ["call", "carol", "--headset", "null"],
      environment: services[0].environment
    )
    #expect(missing.waitForExit() == 1)
    #expect(missing.printed("sidetone people"), "\(missing.output)")
  }

  @Test func hiddenPhonesAreNotAnnouncedAndLiarsAreNotBelieved() throws {
    guard let (hosts, services, publish) = try Self.scene() else { return }
    defer { withExtendedLifetime((hosts, services)) {} }
    let listener = try hosts.start(
      on: 1,
      ["listen", "--answer", "--hidden", "--json", "--headset", "null", "--name", "Bob"],
      environment: services[1].environment
    )
    #expect(listener.wait(for: "10.77.0.2:5060"), "\(listener.output)")
    let none = try hosts.start(
      on: 0,
      ["people", "--once"],
      environment: services[0].environment
    )
    #expect(none.waitForExit() == 0)
    #expect(!none.printed("sip:"), "\(none.output)")

    // The user calls Bob by his address, and gives him his name.
    let first = try hosts.start(
      on: 0,
      ["call", "sip:bob@10.77.0.2", "--json", "--duration", "1", "--headset", "null"],
      environment: services[0].environment
    )
    #expect(first.waitForExit() == 0, "\(first.output)")
    let naming = try hosts.start(
      on: 0,
      ["peers", "name", "bob@10.77.0.2", "Bob"],
      environment: services[0].environment
    )
    #expect(naming.waitForExit() == 0, "\(naming.output)")
    let fingerprint = try #require(
      first.output.split(separator: "\"fingerprint\":\"").dropFirst().first?.prefix(95)
    )

    // Another phone announces Bob's name and identity, which it does not have.
    let other = try hosts.start(
      on: 1,
      ["listen", "--answer", "--hidden", "--json", "--headset", "null"]
        + ["--listen", "10.77.0.2:5064"],
      environment: services[1].environment.merging(["XDG_DATA_HOME": Bench.folder().path]) { $1 }
    )
    #expect(other.wait(for: "10.77.0.2:5064"), "\(other.output)")
    let liar = try hosts.run(
      publish,
      on: 1,
      ["-s", "Bob", "_sip._udp", "5064", "user=bob", "fp=\(fingerprint)"],
      environment: services[1].environment
    )
    #expect(liar.wait(for: "Established"), "\(liar.output)")
    let caller = try hosts.start(
      on: 0,
      ["call", "bob", "--json", "--headset", "null"],
      environment: services[0].environment
    )
    #expect(caller.waitForExit() == 1, "\(caller.output)")
    #expect(caller.printed("does not show the identity"), "\(caller.output)")

    // A second Bob: without a terminal nobody can be asked.
    let second = try hosts.run(
      publish,
      on: 0,
      ["-s", "Bob of the cellar", "_sip._udp", "5070"],
      environment: services[0].environment
    )
    #expect(second.wait(for: "Established"), "\(second.output)")
    let undecided = try hosts.start(
      on: 0,
      ["call", "bob", "--headset", "null"],
      environment: services[0].environment
    )
    #expect(undecided.waitForExit() == 1)
    #expect(undecided.printed("may mean several"), "\(undecided.output)")
    #expect(undecided.printed("known"), "\(undecided.output)")
    for program in [listener, other, liar, second] {
      program.signal(SIGKILL)
      _ = program.waitForExit()
    }
  }
}
