import BusFixture
import Foundation
import ProgramRig
import Testing

/// Lists that are kept between calls, as a user sees them: blocked callers, do not disturb, labels,
/// recents, links.
///
/// Each test has a data folder of its own.
@Suite(.waiting, .serialized)
struct ListsTests {
  private let folder: URL
  private let environment: [String: String]

  init() throws {
    folder = try Bench.folder()
    environment = ["XDG_DATA_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]
  }

  private func sidetone(_ arguments: String..., expecting status: Int32 = 0) throws -> String {
    let run = try Bench.run(arguments, environment: environment)
    #expect(run.waitForExit() == status, "\(arguments): \(run.output)")
    return run.output
  }

  private func listener(_ options: String...) throws -> (run: ProgramRun, port: Int) {
    let port = Bench.port()
    let arguments = ["listen", "--json", "--headset", "null", "--listen", "127.0.0.1:\(port)"]
    let run = try Bench.run(arguments + options, environment: environment)
    #expect(run.wait(for: "registered"))
    return (run, port)
  }

  // A caller in a data folder of its own, so that both sides keep their own lists.
  private func caller(to port: Int, _ options: String...) throws -> ProgramRun {
    let home = try Bench.folder().path
    return try Bench.run(
      ["call", "sip:bob@127.0.0.1:\(port)", "--headset", "null", "--json"] + options,
      environment: ["XDG_DATA_HOME": home, "XDG_RUNTIME_DIR": home]
    )
  }

  @Test func blockedCallerIsDeclinedAndLeavesNoTrace() throws {
    _ = try sidetone("block", "add", "sip:eve@127.0.0.1")
    let (run, port) = try listener()
    let eve = try caller(to: port, "--user", "eve")
    #expect(eve.waitForExit() == 1)
    #expect(eve.printed("\"reason\":\"declined\""))
    #expect(!run.printed("incoming"))
    run.signal(SIGINT)
    #expect(run.waitForExit() != nil)
    #expect(try sidetone("recents").isEmpty)
    _ = try sidetone("block", "remove", "eve@127.0.0.1")
    #expect(try sidetone("block", "list").isEmpty)
    #expect(try sidetone("block", "remove", "eve", expecting: 1).contains("was not blocked"))
  }

  @Test func favouritesMayDisturbAndOthersMayNot() throws {
    _ = try sidetone("dnd", "on")
    _ = try sidetone("favourites", "add", "sip:alice@127.0.0.1", "Alice")
    let (run, port) = try listener("--answer", "--once")
    let eve = try caller(to: port, "--user", "eve")
    #expect(eve.waitForExit() == 1 && eve.printed("not available"))
    let alice = try caller(to: port, "--user", "alice", "--duration", "1")
    #expect(alice.waitForExit() == 0)
    #expect(run.waitForExit() == 0)
    #expect(run.output.components(separatedBy: "\"event\":\"incoming\"").count == 2)
    #expect(try sidetone("dnd", "off").contains("off"))
  }

  @Test func recentsTellOfEveryCallAndTheLastIsRedialled() throws {
    let (run, port) = try listener("--answer")
    for attempt in ["call sip:bob@127.0.0.1:\(port)", "call --redial"] {
      let call = try Bench.run(
        attempt.split(separator: " ").map(String.init)
          + ["--headset", "null", "--json", "--duration", "1"],
        environment: environment
      )
      #expect(call.waitForExit() == 0, "\(attempt): \(call.output)")
    }
    run.signal(SIGINT)
    #expect(run.waitForExit() != nil)
    let recents = try sidetone("recents", "--json")
    #expect(recents.components(separatedBy: "\"outgoing\":true").count == 3)
    #expect(recents.components(separatedBy: "\"result\":\"talked\"").count == 5)
    #expect(try sidetone("recents", "--clear").isEmpty)
  }

  @Test func linkIsHandedToTheRunningSidetone() throws {
    let (bob, port) = try listener()
    let home = try Bench.folder().path
    let other = ["XDG_DATA_HOME": home, "XDG_RUNTIME_DIR": home]
    let running = try Bench.run(
      ["listen", "--json", "--headset", "null", "--listen", "127.0.0.1:\(Bench.port())"],
      environment: other
    )
    #expect(running.wait(for: "registered"))
    let open = try Bench.run(["open", "sidetone://bob@127.0.0.1:\(port)"], environment: other)
    #expect(open.waitForExit() == 0 && open.printed("runs already"))
    #expect(bob.wait(for: "incoming"))
    for run in [running, bob] { run.signal(SIGINT) }
    #expect(running.waitForExit() != nil && bob.waitForExit() != nil)
    #expect(try sidetone("open", "http://example.org", expecting: 1).contains("no link to call"))
    #expect(try sidetone("open", "tel:+431234", expecting: 1).contains("gateway"))
  }

  /// A click on a link makes the bus start sidetone if it is not running.
  @Test func busStartsSidetoneForALink() throws {
    let launcher = "/usr/bin/gapplication"
    let isThere = FileManager.default.isExecutableFile(atPath: launcher)
    let missing = isThere ? nil : "libglib2.0-bin"
    guard ProgramUnderTest.canRun(missing: missing) else { return }
    let (bob, port) = try listener()
    let services = folder.appendingPathComponent("services")
    try FileManager.default.createDirectory(at: services, withIntermediateDirectories: true)
    let program = try #require(ProgramUnderTest.url)
    let service = """
      [D-BUS Service]
      Name=org.sidetone.Sidetone
      Exec=/usr/bin/env XDG_DATA_HOME=\(folder.path) \(program.path) listen --once --headset null \
      --listen 127.0.0.1:\(Bench.port())

      """
    let file = services.appendingPathComponent("org.sidetone.Sidetone.service")
    try service.write(to: file, atomically: true, encoding: .utf8)
    guard let bus = try BusDaemon(servicesIn: services) else { return }
    let open = try ProgramRun(
      launcher,
      ["launch", "org.sidetone.Sidetone", "sip:bob@127.0.0.1:\(port)"],
      environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address]
    )
    #expect(open.waitForExit() == 0, "\(open.output)")
    #expect(bob.wait(for: "incoming"))
    // The one that was started ends with its call.
    bob.signal(SIGINT)
    #expect(bob.waitForExit() != nil)
  }

  @Test func desktopEntryNamesTheSchemes() throws {
    _ = try sidetone("open", "--register")
    let entry = try String(
      contentsOf: folder.appendingPathComponent("applications/sidetone.desktop"),
      encoding: .utf8
    )
    for scheme in ["sip", "sips", "tel", "sidetone"] {
      #expect(entry.contains("x-scheme-handler/\(scheme);"), "\(entry)")
    }
    #expect(entry.contains("sidetone\" open %u"))
  }

  // MARK: The call directory

  private func install(_ identifier: String, executable: String) throws {
    let manifests = folder.appendingPathComponent("sidetone/extensions")
    try FileManager.default.createDirectory(at: manifests, withIntermediateDirectories: true)
    let manifest = ["identifier": identifier, "executable": executable, "name": "Monkey"]
    try JSONSerialization.data(withJSONObject: manifest)
      .write(to: manifests.appendingPathComponent("\(identifier).json"))
  }

  @Test func extensionBlocksAndLabelsCallers() throws {
    try install("monkey", executable: try Bench.sibling("MonkeyCallDirectory"))
    #expect(try sidetone("directory", "reload", "monkey", expecting: 1).contains("disabled"))
    #expect(try sidetone("directory", "reload", "none", expecting: 1).contains("no such extension"))
    _ = try sidetone("directory", "enable", "monkey")
    #expect(try sidetone("directory", "reload", "monkey") == "2 blocked, 2 labelled.\n")
    // The second load is one of changes.
    #expect(try sidetone("directory", "reload", "monkey") == "2 blocked, 2 labelled.\n")
    #expect(try sidetone("directory").contains("monkey  Monkey  enabled  2 blocked, 2 labelled"))
    let (run, port) = try listener("--answer")
    let blocked = try caller(to: port, "--user", "14085555555")
    #expect(blocked.waitForExit() == 1 && blocked.printed("declined"))
    let labelled = try caller(to: port, "--user", "+18775555555", "--duration", "1")
    #expect(labelled.waitForExit() == 0)
    #expect(run.printed("\"from\":\"Telemarketer <sip:+18775555555@127.0.0.1>\""))
    run.signal(SIGINT)
    #expect(run.waitForExit() != nil)
  }

  @Test func extensionThatFailsLeavesTheOldEntries() throws {
    try install("monkey", executable: try Bench.sibling("MonkeyCallDirectory"))
    _ = try sidetone("directory", "enable", "monkey")
    _ = try sidetone("directory", "reload", "monkey")
    for (script, complaint) in [
      ("echo b1; echo b2; kill -9 $$", "ended too early"), ("echo b2; echo b1; echo .", "ascend"),
      ("echo b2; echo b2; echo .", "twice"), ("echo u5; echo .", "removed entries"),
      ("echo '!7 my.domain it is empty'", "it is empty"), ("echo nonsense", "ended too early"),
    ] {
      let path = folder.appendingPathComponent("extension.sh")
      try "#!/bin/sh\n\(script)\nread verdict\n".write(to: path, atomically: true, encoding: .utf8)
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o755],
        ofItemAtPath: path.path
      )
      try install("monkey", executable: path.path)
      let said = try sidetone("directory", "reload", "monkey", expecting: 1)
      #expect(said.contains(complaint), "\(script): \(said)")
      #expect(try sidetone("directory").contains("2 blocked, 2 labelled"))
    }
  }

  @Test func onlyPeersThatAreRememberedAreVerifiedOrNamed() throws {
    for peer in ["bob@h", Array(repeating: "AB", count: 32).joined(separator: ":")] {
      let words = "is not remembered"
      #expect(try sidetone("peers", "verify", peer, expecting: 1).contains(words))
      #expect(try sidetone("peers", "name", peer, "Bob", expecting: 1).contains(words))
      #expect(try sidetone("peers", "forget", peer, expecting: 1).contains(words))
    }
  }
}
