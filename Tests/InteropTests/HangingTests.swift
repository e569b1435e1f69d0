import BusFixture
import Foundation
import ProgramRig
import Testing

/// Calls while something that the program needs hangs instead of failing.
@Suite(.waiting)
struct HangingTests {
  private func listen(at port: Int) throws -> ProgramRun {
    let listener = try Bench.run(
      ["listen", "--answer", "--once", "--json", "--listen", "127.0.0.1:\(port)"]
        + ["--headset", "null"]
    )
    #expect(listener.wait(for: "registered"), "\(listener.output)")
    return listener
  }

  /// Both buses accept connections and never answer.
  @Test func callIsMadeThoughTheBusesHang() throws {
    let port = Bench.port()
    let listener = try listen(at: port)
    try Bench.withListener { bus in
      let address = "tcp:host=127.0.0.1,port=\(bus)"
      let caller = try Bench.run(
        ["call", "sip:bob@127.0.0.1:\(port)", "--headset", "null", "--duration", "1"],
        environment: [
          "DBUS_SESSION_BUS_ADDRESS": address, "DBUS_SYSTEM_BUS_ADDRESS": address,
        ]
      )
      #expect(caller.waitForExit() == 0, "\(caller.output)")
      #expect(listener.waitForExit() == 0, "\(listener.output)")
    }
  }

  /// The user's bus is suspended in mid-call, and resumed after the next call.
  @Test func busStandsStillInMidCall() throws {
    guard let scene = try MusicScene() else { return }
    defer { withExtendedLifetime(scene) {} }
    let bob = try Party(
      "bob",
      hertz: 800,
      in: scene.folder,
      ["listen", "--answer", "--listen", "127.0.0.1:\(scene.port)"],
      environment: scene.environment
    )
    #expect(bob.event("registered"), "\(bob.run.output)")
    let alice = try Party(
      "alice",
      hertz: 500,
      in: scene.folder,
      ["call", "sip:bob@127.0.0.1:\(scene.port)"],
      environment: MusicScene.callersEnvironment
    )
    #expect(bob.event("stats") && alice.event("stats"), "\(bob.run.output)")
    #expect(Patience.waits { scene.music.status == "Paused" })

    scene.bus.freeze()
    #expect(alice.run.hearsVoice() && bob.run.hearsVoice(), "\(bob.run.output)")
    bob.run.press("o")
    #expect(bob.event("held") && alice.event("heldByFarSide"), "\(bob.run.output)")
    bob.run.press("o")
    #expect(bob.event("resumed") && alice.event("resumedByFarSide"), "\(bob.run.output)")
    #expect(alice.run.hearsVoice() && bob.run.hearsVoice(), "\(bob.run.output)")
    bob.run.press("h")
    #expect(alice.run.waitForExit() == 0, "\(alice.run.output)")
    #expect(bob.event("ended") && bob.event("audioDeactivated", times: 2), "\(bob.run.output)")
    for heard in [try bob.hears(alice), try alice.hears(bob)] {
      #expect(heard.count { $0 } >= 30, "the voice went both ways")
    }
    let next = try scene.call("--duration", "1")
    #expect(next.waitForExit() == 0, "\(next.output)")

    scene.bus.thaw()
    #expect(Patience.waits { scene.music.status == "Playing" })
    let last = try scene.call()
    #expect(last.wait(for: "\"stats\""), "\(last.output)")
    #expect(Patience.waits { scene.music.status == "Paused" })
    last.signal(SIGINT)
    #expect(last.waitForExit() == 0, "\(last.output)")
    #expect(Patience.waits { scene.music.status == "Playing" })
    bob.run.signal(SIGINT)
    #expect(bob.run.waitForExit() == 0, "\(bob.run.output)")
  }

  // A name server that hears everything and never answers, in a network of its own.
  private static let silentNames = """
    ip link set lo up && mount --bind "$1" /etc/resolv.conf || exit 9
    # Bound before the program starts: a question to a closed port would be refused at once.
    # It says when it has been asked.
    python3 -c 'import os, socket, time
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 53))
    print("hears", flush=True)
    if os.fork() == 0:
      s.recv(512)
      print("asked", flush=True)
      time.sleep(60)'
    shift
    exec "$@"
    """

  @Test(arguments: [true, false]) func nameServerHangs(isInterrupted: Bool) throws {
    guard geteuid() == 0, Bench.find("python3") != nil, Bench.find("ip") != nil else {
      return Bench.skip("python3 iproute2 root")
    }
    let folder = try Bench.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let configuration = folder.appendingPathComponent("resolv.conf")
    try Data("nameserver 127.0.0.1\n".utf8).write(to: configuration)
    let program = try #require(Bench.program, "build the program first: swift build")
    let caller = try ProgramRun(
      "/usr/bin/unshare",
      ["-n", "-m", "sh", "-c", Self.silentNames, "sh", configuration.path, program]
        + ["call", "sip:bob@nowhere.example", "--headset", "null"],
      environment: ["XDG_DATA_HOME": folder.path]
    )
    #expect(caller.wait(for: "hears"), "\(caller.output)")
    guard isInterrupted else {
      #expect(caller.waitForExit() == 1, "\(caller.output)")
      #expect(caller.printed("sidetone: unknown host \"nowhere.example\""), "\(caller.output)")
      return
    }
    #expect(caller.wait(for: "asked"), "\(caller.output)")
    caller.signal(SIGINT)
    // One that waits for the name server ends with a status of its own.
    #expect(caller.waitForExit() == 128 + SIGINT, "\(caller.output)")
  }

  /// The far side is suspended until the caller gives the call up, and learns of its end once
  /// resumed.
  @Test func farSideStandsStill() throws {
    let port = Bench.port()
    let listener = try listen(at: port)
    let caller = try Bench.run(
      ["call", "sip:bob@127.0.0.1:\(port)", "--headset", "null", "--json"]
    )
    #expect(caller.wait(for: "\"stats\""), "\(caller.output)")
    listener.signal(SIGSTOP)
    #expect(caller.wait(for: "nothing was heard from the far side for"))
    #expect(caller.waitForExit() == 1, "\(caller.output)")
    listener.signal(SIGCONT)
    #expect(listener.wait(for: "\"ended\""), "\(listener.output)")
    #expect(listener.waitForExit() != nil, "\(listener.output)")
  }
}
