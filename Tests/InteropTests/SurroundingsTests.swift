import Foundation
import Testing

/// Calls where the machine lacks what a program expects to find.
@Suite(.waiting)
struct SurroundingsTests {
  /// Something that is wrong, and what becomes of a call.
  struct Row: CustomStringConvertible, Sendable {
    let description: String
    /// What starts the program.
    var launcher: [String] = []
    var environment: [String: String] = [:]
    /// What the one sentence says; nil if the call takes place.
    var sentence: String?
  }

  private static let path = "PATH=/usr/bin:/bin"
  private static let longPath =
    "/tmp/" + String(repeating: String(repeating: "d", count: 200) + "/", count: 20)

  static let rows = [
    Row(description: "no variables at all", launcher: ["env", "-i", path]),
    // Where not even root can make one; the system then has another for its user.
    Row(description: "no home", launcher: ["env", "-i", path, "HOME=/proc/nonexistent"]),
    Row(
      description: "the data folder is in a file",
      environment: ["XDG_DATA_HOME": "/dev/null/x"],
      sentence: "cannot use the folder /dev/null/x/sidetone: Not a directory; set XDG_DATA_HOME"
    ),
    Row(
      description: "the path of the data folder has 4,000 bytes",
      environment: ["XDG_DATA_HOME": longPath],
      sentence: "cannot use the folder …"
    ),
    Row(
      description: "the settings' folder is in a file",
      environment: ["XDG_CONFIG_HOME": "/dev/null/x"]
    ),
    Row(
      description: "the path of the settings' folder has 4,000 bytes",
      environment: ["XDG_CONFIG_HOME": longPath]
    ),
    Row(
      description: "the runtime folder is in a file",
      environment: ["XDG_RUNTIME_DIR": "/dev/null/x"]
    ),
    Row(
      description: "the path of the runtime folder has 4,000 bytes",
      environment: ["XDG_RUNTIME_DIR": longPath]
    ),
    Row(
      description: "no bus",
      environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"]
    ),
    Row(description: "no memory may be locked", launcher: ["prlimit", "--memlock=0:0"]),
    Row(description: "no real-time priority", launcher: ["prlimit", "--rtprio=0:0"]),
    Row(
      description: "the disk is full",
      launcher: [
        "unshare", "-m", "sh", "-c",
        "mount -t tmpfs -o size=32k none /mnt && XDG_DATA_HOME=/mnt exec \"$@\"", "sh",
      ],
      sentence: "the disk is full or cannot be written to; set XDG_DATA_HOME"
    ),
    Row(
      description: "twenty-four descriptors",
      launcher: ["prlimit", "--nofile=24:24"],
      sentence: "sidetone: "
    ),
  ]

  @Test(arguments: rows)
  func callTakesPlaceOrIsRefusedInASentence(row: Row) throws {
    let program = try #require(Bench.program, "build the program first: swift build")
    guard Bench.find("prlimit") != nil, geteuid() == 0 || row.launcher.first != "unshare" else {
      return Bench.skip("util-linux, run as root")
    }
    let folder = try Bench.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let port = Bench.port()
    let phone = try Bench.run(
      ["listen", "--answer", "--once", "--json", "--listen", "127.0.0.1:\(port)"]
        + ["--headset", "null"],
      environment: ["XDG_DATA_HOME": folder.path]
    )
    #expect(phone.wait(for: "registered"), "\(phone.output)")
    let caller = try ProgramRun(
      "/usr/bin/env",
      row.launcher + [
        program, "call", "sip:bob@127.0.0.1:\(port)", "--headset", "null", "--duration", "1",
      ],
      environment: row.environment
    )
    let status = caller.waitForExit()
    guard let sentence = row.sentence else {
      #expect(status == 0, "\(caller.output)")
      return
    }
    #expect(status == 1, "\(caller.output)")
    let last = caller.output.split(separator: "\n").last.map(String.init) ?? ""
    #expect(last.hasPrefix("sidetone: ") && last.contains(sentence), "\(caller.output)")
    #expect(last.utf8.count < 500 && !last.contains("Error Domain"), "\(last)")
    phone.signal(SIGKILL)
  }

  /// Whenever a phone is killed, the next one finds everything in order.
  @Test func killedAtAnyMomentItLeavesNothingWrong() throws {
    let folder = try Bench.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let environment = ["XDG_DATA_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]
    let count = ProcessInfo.processInfo.environment["KILLS"].flatMap { Int($0) } ?? 30
    for kill in 0..<count {
      let port = Bench.port()
      let phone = try Bench.run(
        ["listen", "--answer", "--json", "--listen", "127.0.0.1:\(port)", "--headset", "null"],
        environment: environment
      )
      // From the first moment of the start to a call that is under way.
      let milliseconds = kill * 977 % 400
      if milliseconds > 100 {
        #expect(phone.wait(for: "registered"), "after \(kill) kills: \(phone.output)")
        let caller = try Bench.run(
          ["call", "sip:bob@127.0.0.1:\(port)", "--headset", "null", "--json"],
          environment: ["XDG_DATA_HOME": folder.path + "/caller"]
        )
        phone.letRun(seconds: Double(milliseconds) / 1_000)
        phone.signal(SIGKILL)
        caller.signal(SIGINT)
        #expect(caller.waitForExit() != nil, "\(caller.output)")
      } else {
        phone.letRun(seconds: Double(milliseconds) / 1_000)
        phone.signal(SIGKILL)
      }
      _ = phone.waitForExit()
    }
    let recents = try Bench.run(["recents"], environment: environment)
    #expect(recents.waitForExit() == 0, "\(recents.output)")
    // Each line is a call with a time and an outcome, none is half of one.
    #expect(!recents.output.contains("nil"), "\(recents.output)")
    let left = try FileManager.default.contentsOfDirectory(
      atPath: folder.appendingPathComponent("sidetone").path
    )
    let known = ["calls.sqlite", "calls.sqlite-wal", "calls.sqlite-shm", "identity.pem"]
    #expect(Set(left).isSubset(of: known), "\(left)")
  }

  /// The unit of systemd takes from the program what it has no use for.
  @Test func serviceIsRestricted() throws {
    guard let analyze = Bench.find("systemd-analyze") else { return Bench.skip("systemd") }
    let unit = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Packaging/sidetone.service").standardized.path
    let run = try ProgramRun(
      analyze,
      ["security", "--no-pager", "--offline=true", "--threshold=30", unit]
    )
    #expect(run.waitForExit() == 0, "\(run.output)")
    #expect(run.printed("Overall exposure level"), "\(run.output)")
  }
}
