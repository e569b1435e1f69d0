import Foundation
import ProgramRig
import Testing

private let kamailioModules = "/usr/lib/x86_64-linux-gnu/kamailio/modules"

private let packages = [
  "/usr/sbin/kamailio": "kamailio", "\(kamailioModules)/tls.so": "kamailio-tls-modules",
  "/usr/bin/turnserver": "coturn", "/usr/sbin/nft": "nftables", "/usr/bin/openssl": "openssl",
]

private let canRun = ProgramUnderTest.canRun(
  missing: packages.first { !FileManager.default.fileExists(atPath: $0.key) }?.value
    ?? KernelMachine.missing
)

/// Calls between two phones behind a router each, with Debian's kernel, Kamailio and coturn.
///
/// One virtual machine runs all pairs. `KERNEL_SCENARIOS` as for `KernelTests`; `all` prints the
/// table of `Documentation/Routers.md`.
@Suite(.serialized, .enabled(if: canRun))
struct RouterTests {
  /// A pair of routers, and the path of the voice through both.
  struct Pair: Sendable, CustomTestStringConvertible {
    let first: String
    let second: String

    var name: String { "\(first)+\(second)" }
    var testDescription: String { name }

    /// Kind of path for the voice: direct, translated or relayed.
    var kind: String {
      let kinds = [first, second]
      if kinds == ["none", "none"] { return "direct" }
      if kinds.contains("connections") { return "relayed" }
      let isReachable = kinds.contains("none") || kinds.contains("full-cone")
      return kinds.contains("symmetric") && !isReachable ? "relayed" : "translated"
    }

    /// URI of the relay; by TLS where a router lets only connections out.
    var relay: String {
      [first, second].contains("connections")
        ? "turns:\(RouterTests.server)" : "turn:\(RouterTests.server)"
    }
  }

  static let server = "198.51.100.1"
  private static let kinds = ["none", "full-cone", "restricted", "symmetric", "connections"]
  private static let few = [
    "none+restricted", "restricted+restricted", "symmetric+full-cone", "symmetric+symmetric",
    "connections+restricted",
  ]

  private static var isComplete: Bool {
    ProcessInfo.processInfo.environment["KERNEL_SCENARIOS"] == "all"
  }

  static let pairs = kinds.flatMap { first in kinds.map { Pair(first: first, second: $0) } }
    .filter { isComplete || few.contains($0.name) }

  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  /// Folder of logs.
  private static let share = ProgramUnderTest.package.appendingPathComponent(".build/routers")

  private static func makeMachine() throws -> KernelMachine {
    let sidetone = try #require(ProgramUnderTest.url, "build the program first: swift build")
    let modules = try FileManager.default.contentsOfDirectory(atPath: kamailioModules)
      .filter { $0.hasSuffix(".so") }.map { URL(fileURLWithPath: "\(kamailioModules)/\($0)") }
    let programs = ["/usr/sbin/kamailio", "/usr/bin/turnserver", "/usr/sbin/nft"]
    return try KernelMachine(
      in: ProgramUnderTest.package.appendingPathComponent(".build/router-machine"),
      programs: [sidetone] + programs.map { URL(fileURLWithPath: $0) } + modules,
      initialisation: folder.appendingPathComponent("Guest/init")
    )
  }

  private static func prepareShare() throws {
    // What is not there yet need not be removed.
    try? FileManager.default.removeItem(at: share)
    try FileManager.default.createDirectory(at: share, withIntermediateDirectories: true)
    let servers = folder.appendingPathComponent("../Servers").standardized
    for name in ["kamailio.cfg", "turnserver.conf"] {
      try FileManager.default.copyItem(
        at: servers.appendingPathComponent(name),
        to: share.appendingPathComponent(name)
      )
    }
    try """
    [server:default]
    method = TLSv1.2+
    private_key = /mnt/server.key
    certificate = /mnt/server.pem
    verify_certificate = no
    """.write(to: share.appendingPathComponent("tls.cfg"), atomically: true, encoding: .utf8)
    try openssl(
      ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        + ["-subj", "/CN=test", "-addext", "subjectAltName=IP:\(server)", "-days", "30000"]
        + ["-keyout", "server.key", "-out", "server.pem"]
    )
    try FileManager.default.copyItem(
      at: share.appendingPathComponent("server.pem"),
      to: share.appendingPathComponent("authority.pem")
    )
  }

  private static func openssl(_ arguments: [String]) throws {
    try ProgramRig.run("openssl", arguments, in: share)
  }

  /// Run of the machine through all calls, until it has turned itself off.
  private static let run = Result {
    try prepareShare()
    let functions = try String(
      contentsOf: folder.appendingPathComponent("Guest/routers.sh"),
      encoding: .utf8
    )
    let calls = pairs.map { "pair \($0.first) \($0.second) '\($0.relay)'" }
    let script =
      functions + (["servers", "side 1", "side 2"] + calls).joined(separator: "\n") + "\n"
    try Data(script.utf8).write(to: share.appendingPathComponent("guest.sh"))
    try makeMachine().boot(sharing: share, processorSeconds: 480 + 120 * Double(pairs.count))
  }

  private struct Event: Decodable {
    let event: String
    let at: Double?
    let kind: String?
    let packetsReceived: Int?
  }

  private static func events(of user: String, in pair: Pair) throws -> [Event] {
    let file = share.appendingPathComponent("out/\(pair.name)/\(user).jsonl")
    return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
      try JSONDecoder().decode(Event.self, from: Data($0.utf8))
    }
  }

  @Test(arguments: pairs) func callGetsThrough(_ pair: Pair) throws {
    try Self.run.get()
    let events = try Self.events(of: "alice", in: pair)
    let path = try #require(events.first { $0.event == "path" }, "no way was found")
    let connected = try #require(events.first { $0.event == "connected" }?.at)
    let secured = try #require(events.first { $0.event == "secured" }?.at)
    #expect(path.kind == pair.kind)
    for user in ["alice", "bob"] {
      let received = try Self.events(of: user, in: pair).compactMap(\.packetsReceived).max() ?? 0
      #expect(received > 100, "\(user) has heard \(received) packets")
    }
    func milliseconds(_ at: Double) -> String { String(format: "%.0f ms", at - connected) }
    let cells = [
      pair.first, pair.second, path.kind ?? "", milliseconds(path.at ?? connected),
      milliseconds(secured),
    ]
    print("| \(cells.joined(separator: " | ")) |")
  }
}
