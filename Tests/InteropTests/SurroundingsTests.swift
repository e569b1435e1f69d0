import BusFixture
import Foundation
import MediaCore
import ProgramRig
import Testing

/// Calls where the machine lacks what a program expects to find.
@Suite(.waiting)
struct SurroundingsTests {
  /// A defect of the machine, and its effect on a call.
  struct Row: CustomStringConvertible, Sendable {
    let description: String
    /// Command that starts the program given after it.
    var launcher: [String] = []
    var environment: [String: String] = [:]
    /// Part of the single error message; nil if the call takes place.
    var sentence: String?
  }

  private static let path = "PATH=/usr/bin:/bin"
  private static let longPath =
    "/tmp/" + String(repeating: String(repeating: "d", count: 200) + "/", count: 20)

  /// Command that runs a program without environment variables, for a user with the home `home`.
  ///
  /// `/mnt` is an empty folder.
  private static func withHome(_ home: String) -> [String] {
    [
      "unshare", "-m", "sh", "-c",
      "mount -t tmpfs none /mnt && sed 's|:/root:|:\(home):|' /etc/passwd > /mnt/passwd && "
        + "mount --bind /mnt/passwd /etc/passwd && exec env -i \(path) \"$@\"",
      "sh",
    ]
  }

  static let rows = [
    Row(description: "no variables at all", launcher: withHome("/mnt")),
    Row(
      description: "no home",
      launcher: withHome("/proc/nonexistent"),
      sentence: "cannot use the folder /proc/nonexistent/.local/share/sidetone"
    ),
    Row(
      description: "the data folder is read-only, and empty",
      launcher: [
        "unshare", "-m", "sh", "-c",
        "mount -t tmpfs none /mnt && mkdir /mnt/sidetone && mount -o remount,ro /mnt && "
          + "XDG_DATA_HOME=/mnt exec \"$@\"",
        "sh",
      ],
      sentence: "cannot use the folder /mnt/sidetone"
    ),
    Row(
      description: "the data folder is read-only, with a store in it",
      launcher: [
        "unshare", "-m", "sh", "-c",
        "mount -t tmpfs none /mnt && XDG_DATA_HOME=/mnt \"$1\" recents > /dev/null && "
          + "mount -o remount,ro /mnt && XDG_DATA_HOME=/mnt exec \"$@\"",
        "sh",
      ],
      sentence: "cannot use the folder /mnt/sidetone"
    ),
    Row(
      description: "the runtime folder is read-only",
      launcher: [
        "unshare", "-m", "sh", "-c",
        "mount -t tmpfs -o ro none /mnt && XDG_RUNTIME_DIR=/mnt exec \"$@\"", "sh",
      ]
    ),
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
      return Bench.skip("util-linux root")
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

  private static func descriptors(of run: ProgramRun) throws -> Set<Int> {
    let folder = "/proc/\(run.identifier)/fd"
    return Set(try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { Int($0) })
  }

  private static func isOpen(_ file: URL, in run: ProgramRun) throws -> Bool {
    try descriptors(of: run).contains { descriptor in
      let link = "/proc/\(run.identifier)/fd/\(descriptor)"
      // One that has been closed meanwhile leads nowhere.
      return (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) == file.path
    }
  }

  private static func stranger(at port: UInt16) -> Int32 {
    let stranger = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    LoopbackSocket.connect(stranger, to: port)
    return stranger
  }

  // Opens connections to a program until it has no descriptor left below its limit.
  private static func takeRest(below limit: Int, of run: ProgramRun, by port: UInt16) throws
    -> [Int32]
  {
    var strangers: [Int32] = []
    while strangers.count < 32, try descriptors(of: run).count(where: { $0 < limit }) < limit {
      let before = try descriptors(of: run).count
      let stranger = stranger(at: port)
      strangers.append(stranger)
      // Taken or closed.
      _ = try Patience.waits(seconds: 5) {
        try descriptors(of: run).count != before
          || !LoopbackSocket.ready([stranger], within: 0).isEmpty
      }
    }
    return strangers
  }

  private static func allow(_ count: Int, to run: ProgramRun) throws {
    let prlimit = try ProgramRun(
      "/usr/bin/env",
      // The hard limit stays, so that more can be allowed again.
      ["prlimit", "--pid", "\(run.identifier)", "--nofile=\(count):"]
    )
    #expect(prlimit.waitForExit() == 0, "\(prlimit.output)")
  }

  /// Starts a call of Alice to Bob at `port`, and returns both once it is encrypted and carries
  /// voice.
  private static func conversation(
    in folder: URL,
    _ port: Int,
    _ options: [String] = []
  ) throws -> (alice: Party, bob: Party) {
    let bob = try Party(
      "bob",
      hertz: 800,
      in: folder,
      ["listen", "--listen", "127.0.0.1:\(port)"] + options
    )
    #expect(bob.event("registered"), "\(bob.run.output)")
    let alice = try Party("alice", hertz: 500, in: folder, ["call", "sip:bob@127.0.0.1:\(port)"])
    #expect(bob.event("incoming"), "\(bob.run.output)")
    bob.run.press("a")
    #expect(bob.event("secured") && bob.event("stats"), "\(bob.run.output)")
    #expect(alice.event("secured") && alice.event("stats"), "\(alice.run.output)")
    return (alice, bob)
  }

  /// Without free descriptors strangers, a second caller and a recording are refused, and the call
  /// goes on.
  ///
  /// The far side can hold and resume it, and it is hung up as ever.
  @Test func descriptorsAreUsedUpInMidCall() throws {
    guard Bench.find("prlimit") != nil else { return Bench.skip("util-linux") }
    let folder = try Bench.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let port = Bench.port()
    let recordings = folder.appendingPathComponent("recordings").path
    let (alice, bob) = try Self.conversation(in: folder, port, ["--recordings", recordings])
    // Those that it has opened stay below the limit, so that it may use them again. Far above them
    // may be some that it was started with.
    let taken = try Self.descriptors(of: bob.run)
    let limit = (0...).first { taken.isDisjoint(with: $0..<$0 + 16) } ?? 0
    try Self.allow(limit, to: bob.run)
    var strangers = try Self.takeRest(below: limit, of: bob.run, by: UInt16(port))
    defer { for stranger in strangers { close(stranger) } }
    let isClosed = (0..<4).contains { _ in
      let stranger = Self.stranger(at: UInt16(port))
      strangers.append(stranger)
      return LoopbackSocket.datagram(at: stranger, within: 5) == []
    }
    #expect(isClosed)
    let before = try bob.run.processorSeconds()
    #expect(bob.sound.goesOn(seconds: 2))
    #expect(try bob.run.processorSeconds() - before < 1, "nothing is tried again and again")
    // Something may have been closed since.
    strangers += try Self.takeRest(below: limit, of: bob.run, by: UInt16(port))
    bob.run.press("r")
    #expect(bob.run.wait(for: "Too many open files"), "\(bob.run.output)")
    let second = try Bench.run(
      ["call", "sip:bob@127.0.0.1:\(port)", "--headset", "null", "--json", "--security", "off"]
    )
    #expect(second.waitForExit() == 1 && second.printed("busy"), "\(second.output)")
    alice.run.press("o")
    #expect(alice.event("held") && bob.event("heldByFarSide"), "\(bob.run.output)")
    // A second later the socket of the stream is closed, which the next one needs.
    #expect(bob.sound.goesOn(seconds: 2))
    alice.run.press("o")
    #expect(alice.event("resumed") && bob.event("resumedByFarSide"), "\(bob.run.output)")
    #expect(alice.run.hearsVoice() && bob.run.hearsVoice(), "\(bob.run.output)")
    // He needs a connection to her for that.
    bob.run.press("h")
    #expect(alice.run.waitForExit() == 0, "\(alice.run.output)")
    #expect(bob.event("ended") && bob.event("audioDeactivated"), "\(bob.run.output)")
    for heard in [try bob.hears(alice), try alice.hears(bob)] {
      #expect(heard.count { $0 } >= 30, "the voice went both ways")
    }

    try Self.allow(1_024, to: bob.run)
    let third = try Bench.run(
      ["call", "sip:bob@127.0.0.1:\(port)", "--headset", "null", "--json", "--duration", "3"]
    )
    #expect(bob.event("incoming", times: 2), "\(bob.run.output)")
    bob.run.press("a")
    #expect(bob.event("connected", times: 2), "\(bob.run.output)")
    bob.run.press("r")
    #expect(bob.event("recording") && bob.event("recordingEnded"), "\(bob.run.output)")
    #expect(third.waitForExit() == 0, "\(third.output)")
    bob.run.signal(SIGINT)
    #expect(bob.run.waitForExit() == 0, "\(bob.run.output)")
  }

  /// A call whose resume finds no descriptor stays on hold, and is resumed once there are some.
  @Test func descriptorsAreUsedUpDuringAHold() throws {
    guard Bench.find("prlimit") != nil else { return Bench.skip("util-linux") }
    let folder = try Bench.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (alice, bob) = try Self.conversation(in: folder, Bench.port())
    bob.run.press("o")
    #expect(bob.event("held") && alice.event("heldByFarSide"), "\(bob.run.output)")
    #expect(bob.event("audioDeactivated"), "\(bob.run.output)")
    // The devices are closed half a second later.
    #expect(try Patience.waits { try !Self.isOpen(bob.heard, in: bob.run) })
    // Below that number there is none for a new one.
    let taken = try Self.descriptors(of: bob.run)
    try Self.allow((0...).first { !taken.contains($0) } ?? 0, to: bob.run)
    bob.run.press("o")
    #expect(bob.event("resumed") && bob.event("held", times: 2), "\(bob.run.output)")
    try Self.allow(1_024, to: bob.run)
    bob.run.press("o")
    #expect(bob.event("resumed", times: 2), "\(bob.run.output)")
    #expect(alice.run.hearsVoice() && bob.run.hearsVoice(), "\(bob.run.output)")
    bob.run.press("h")
    #expect(alice.run.waitForExit() == 0, "\(alice.run.output)")
    bob.run.signal(SIGINT)
    #expect(bob.run.waitForExit() == 0, "\(bob.run.output)")
  }

  /// Whenever a phone is killed, the next one finds everything in order.
  ///
  /// Each call that was reported as ended is in the list of recent ones. `KILLS=1000` tries as many
  /// moments.
  @Test func killedAtAnyMomentItLeavesNothingWrong() throws {
    let folder = try Bench.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let environment = ["XDG_DATA_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]
    let count = ProcessInfo.processInfo.environment["KILLS"].flatMap { Int($0) } ?? 20
    var random = SeededGenerator(seed: UInt64(count))
    var (ended, begun) = (0, 0)
    for kill in 0..<count {
      let port = Bench.port()
      let phone = try Bench.run(
        ["listen", "--answer", "--json", "--listen", "127.0.0.1:\(port)", "--headset", "null"],
        environment: environment
      )
      func call(_ arguments: [String]) throws -> ProgramRun {
        begun += 1
        return try Bench.run(
          ["call", "sip:bob@127.0.0.1:\(port)", "--headset", "null", "--json"] + arguments,
          environment: ["XDG_DATA_HOME": folder.path + "/caller"]
        )
      }
      // One in four dies as it starts, the others around the end of a call or in another one: after
      // so much processor time, or once it rests.
      let moment = Double.random(in: 0..<0.1, using: &random)
      func isThere() throws -> Bool {
        let before = try phone.processorSeconds()
        return try Patience.waits(seconds: 0.4) { try phone.processorSeconds() - before >= moment }
      }
      if Int.random(in: 0..<4, using: &random) > 0 {
        #expect(phone.wait(for: "registered"), "after \(kill) kills: \(phone.output)")
        let first = try call(["--duration", "0.1"])
        #expect(first.waitForExit() == 0, "\(first.output)")
        let second = try call([])
        _ = try isThere()
        phone.signal(SIGKILL)
        second.signal(SIGINT)
        #expect(second.waitForExit() != nil, "\(second.output)")
      } else {
        _ = try isThere()
        phone.signal(SIGKILL)
      }
      _ = phone.waitForExit()
      ended += phone.output.components(separatedBy: "\"event\":\"ended\"").count - 1
    }
    let recents = try Bench.run(["recents", "--json", "--limit", "9999"], environment: environment)
    #expect(recents.waitForExit() == 0, "\(recents.output)")
    let lines = recents.output.split(separator: "\n")
    // One that ended at the moment of the kill may be missing in the list, or in the output.
    print("\(count) kills, \(begun) calls, \(ended) ended, \(lines.count) in the list")
    #expect((ended - count / 20...begun).contains(lines.count), "\(ended) calls have ended")
    for line in lines {
      let call = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      #expect(call?["result"] is String && call?["handle"] is String, "\(line)")
    }
    let place = folder.appendingPathComponent("sidetone")
    let left = try FileManager.default.contentsOfDirectory(atPath: place.path)
    let known = ["calls.sqlite", "calls.sqlite-wal", "calls.sqlite-shm", "identity.pem"]
    #expect(Set(left).isSubset(of: known), "\(left)")
    for name in left {
      let attributes = try FileManager.default.attributesOfItem(atPath: place.path + "/" + name)
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
    }
  }

  /// Players paused by a phone that is killed in a call resume once the phone is started again.
  @Test func killedInACallItLeavesNoPlayerPaused() throws {
    guard let scene = try MusicScene() else { return }
    defer { withExtendedLifetime(scene) {} }
    func listen() throws -> ProgramRun {
      let phone = try Bench.run(
        ["listen", "--answer", "--json", "--listen", "127.0.0.1:\(scene.port)"]
          + ["--headset", "null"],
        environment: scene.environment
      )
      #expect(phone.wait(for: "registered"), "\(phone.output)")
      return phone
    }
    let phone = try listen()
    let caller = try scene.call()
    #expect(Patience.waits { scene.music.status == "Paused" }, "\(phone.output)")
    phone.signal(SIGKILL)
    caller.signal(SIGINT)
    #expect(phone.waitForExit() != nil && caller.waitForExit() != nil)
    #expect(scene.music.status == "Paused")
    let next = try listen()
    #expect(Patience.waits { scene.music.status == "Playing" }, "\(next.output)")
    next.signal(SIGTERM)
    #expect(next.waitForExit() == 0, "\(next.output)")
    let left = try FileManager.default.contentsOfDirectory(atPath: scene.folder.path)
    #expect(!left.contains { $0.hasPrefix("sidetone-paused") }, "\(left)")
  }

  /// The systemd unit denies the program what it has no use for.
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
