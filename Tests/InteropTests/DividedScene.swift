import Foundation
import Testing

/// A network of two parts, with a SIP server and a relay that both parts reach.
final class DividedScene {
  static let packages = "coturn kamailio kamailio-tls-modules iproute2 root"
  private static let turnserver = Bench.find("turnserver")

  let network: DividedNetwork
  let server: SIPServer
  private let relay: ProgramRun

  init?(quota: Int = 4, isForwarding: Bool = false) throws {
    guard SIPServer.kamailio != nil, let turnserver = Self.turnserver, let ip = Bench.ip,
      let network = try DividedNetwork(ip, isForwarding: isForwarding)
    else { return nil }
    self.network = network
    let launcher = network.serverLauncher
    server = try SIPServer(
      certifiedAs: DividedNetwork.server,
      at: DividedNetwork.server,
      by: launcher
    )
    let rules = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../Servers/turnserver.conf").standardized.path
    let folder = server.folder
    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
    relay = try ProgramRun(
      launcher[0],
      launcher.dropFirst() + [
        turnserver, "-c", rules, "-L", DividedNetwork.server, "-E", DividedNetwork.server,
        "--cert", path("server.pem"), "--pkey", path("server.key"), "--pidfile", path("pid"),
        "--db", path("turn.db"), "--user-quota", "\(quota)",
      ]
    )
    #expect(relay.wait(for: "SQLite DB connection success"), "\(relay.output)")
  }

  deinit {
    relay.signal(SIGTERM)
    _ = relay.waitForExit(seconds: 5)
  }

  func account(_ user: String, _ uri: String, login: String? = nil) throws -> [String: String] {
    try server.account(
      user,
      options: ["--stun", DividedNetwork.server, "--turn", uri]
        + (login.map { ["--turn-login", $0] } ?? [])
    )
  }

  func listen(_ environment: [String: String], _ options: [String]) throws -> ProgramRun {
    let listener = try network.start(
      on: 1,
      ["listen", "--answer", "--once", "--json"] + options,
      environment: environment
    )
    #expect(listener.wait(for: "\"seconds\":600"), "\(listener.output)")
    return listener
  }

  /// A call of Alice to Bob that she has put on hold.
  func heldCall() throws -> (caller: ProgramRun, listener: ProgramRun) {
    let uri = "turn:\(DividedNetwork.server)"
    let listener = try listen(account("bob", uri), ["--headset", "null"])
    let caller = try call(account("alice", uri), ["--headset", "null", "--keys"])
    #expect(caller.wait(for: "\"seconds\":1"), "\(caller.output)")
    caller.press("o")
    #expect(listener.wait(for: "heldByFarSide"), "\(listener.output)")
    // The key holds until its own side knows that the call is held.
    #expect(caller.wait(for: "\"event\":\"held\""), "\(caller.output)")
    return (caller, listener)
  }

  func call(_ environment: [String: String], _ options: [String]) throws -> ProgramRun {
    try network.start(on: 0, ["call", "bob", "--json"] + options, environment: environment)
  }
}
