import Foundation
import Testing

/// A domain whose servers are found by the DNS (RFC 3263): name servers and servers are real.
@Suite(.waiting, .serialized)
struct DiscoveryTests {
  /// A resolver's configuration that names a server of the test's own, for one program.
  private struct Names {
    let server: ProgramRun
    let configuration: URL

    init(_ records: [String], in folder: URL) throws {
      let address = "127.9.\(Int.random(in: 1...254)).\(Int.random(in: 1...254))"
      server = try ProgramRun(
        #require(Bench.find("dnsmasq")),
        [
          "--no-daemon", "--no-resolv", "--no-hosts", "--bind-interfaces", "--conf-file=/dev/null",
          "--listen-address=\(address)", "--log-facility=-", "--pid-file=", "--user=root",
        ] + records
      )
      #expect(server.wait(for: "started"), "\(server.output)")
      configuration = folder.appendingPathComponent("resolv.conf")
      try "nameserver \(address)\n".write(to: configuration, atomically: true, encoding: .utf8)
    }

    /// Runs our program where these names count.
    func run(_ arguments: [String], environment: [String: String]) throws -> ProgramRun {
      let program = try #require(Bench.program)
      return try ProgramRun(
        #require(Bench.find("unshare")),
        [
          "--mount", "sh", "-c",
          "mount --bind \(configuration.path) /etc/resolv.conf && exec \"$0\" \"$@\"", program,
        ] + arguments,
        environment: environment
      )
    }
  }

  private static var canRun: Bool {
    guard SIPServer.kamailio != nil, Bench.find("dnsmasq") != nil, geteuid() == 0 else {
      Bench.skip("kamailio kamailio-tls-modules dnsmasq-base root")
      return false
    }
    return true
  }

  private func find(
    _ records: [String],
    of server: SIPServer,
    connection: String,
    _ body: (ProgramRun) throws -> Void
  ) throws {
    let names = try Names(records, in: server.folder)
    let environment = try server.account("alice", connection: connection, isDiscovered: true)
    let test = try names.run(["account", "test"], environment: environment)
    try body(test)
    names.server.killGroup()
  }

  /// The first of three servers is silent, the second refuses connections.
  @Test func theNextServerIsTried() throws {
    guard Self.canRun else { return }
    let server = try SIPServer()
    try Bench.withListener { silent in
      let service = "--srv-host=_sips._tcp.localhost"
      let records = [
        "\(service),third.test,\(server.port + 1),30", "\(service),first.test,\(silent),10",
        "\(service),second.test,\(Bench.port()),20", "--address=/test/127.0.0.1",
      ]
      try find(records, of: server, connection: "tls") { test in
        #expect(test.waitForExit() == 0, "\(test.output)")
        let first = try #require(test.output.range(of: "to first.test"), "\(test.output)")
        let second = try #require(test.output.range(of: "to second.test"), "\(test.output)")
        let third = try #require(test.output.range(of: "to third.test"), "\(test.output)")
        #expect(first.lowerBound < second.lowerBound && second.lowerBound < third.lowerBound)
        #expect(test.printed("Connection refused") && test.printed("registered for 600 s"))
      }
    }
  }

  @Test func domainSaysHowItIsReached() throws {
    guard Self.canRun else { return }
    let server = try SIPServer()
    let records = [
      "--naptr-record=localhost,20,10,s,SIPS+D2T,,_sips._tcp.localhost",
      "--naptr-record=localhost,10,10,s,SIP+D2T,,_sip._tcp.localhost",
      "--srv-host=_sip._tcp.localhost,sip.test,\(server.port),10",
      "--srv-host=_sips._tcp.localhost,sips.test,\(server.port + 1),10",
      "--address=/test/127.0.0.1",
    ]
    try find(records, of: server, connection: "discovered") { test in
      #expect(test.waitForExit() == 0, "\(test.output)")
      #expect(test.printed("to sip.test (127.0.0.1:\(server.port)) by TCP"), "\(test.output)")
      #expect(test.printed("registered for 600 s"))
    }
  }

  /// The next server may have another transport.
  @Test func theNextServerMayHaveAnotherTransport() throws {
    guard Self.canRun else { return }
    let server = try SIPServer()
    let records = [
      "--naptr-record=localhost,10,10,s,SIP+D2T,,_sip._tcp.localhost",
      "--naptr-record=localhost,20,10,s,SIP+D2U,,_sip._udp.localhost",
      "--naptr-record=localhost,30,10,s,SIPS+D2T,,_sips._tcp.localhost",
      "--srv-host=_sip._tcp.localhost,first.test,\(Bench.port()),10",
      "--srv-host=_sip._udp.localhost,second.test,\(Bench.port()),10",
      "--srv-host=_sips._tcp.localhost,third.test,\(server.port + 1),10",
      "--address=/test/127.0.0.1",
    ]
    try find(records, of: server, connection: "discovered") { test in
      #expect(test.waitForExit() == 0, "\(test.output)")
      #expect(test.printed("to third.test (127.0.0.1:\(server.port + 1)) by TLS"))
      #expect(test.printed("registered for 600 s"), "\(test.output)")
    }
  }

  @Test func domainWithoutServersIsNamed() throws {
    guard Self.canRun else { return }
    let server = try SIPServer()
    let records = ["--srv-host=_sips._tcp.localhost,gone.test,5061,10", "--address=/gone.test/"]
    try find(records, of: server, connection: "tls") { test in
      #expect(test.waitForExit() == 1)
      #expect(test.printed("localhost has no address"), "\(test.output)")
    }
  }
}
