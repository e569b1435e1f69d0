import Foundation
import ProgramRig
import Testing

/// Several answering nodes behind one server, for more calls than one machine carries.
@Suite(.waiting, .serialized)
struct NodeTests {
  private static let packages = "kamailio kamailio-tls-modules rtpengine-daemon"

  /// rtpengine without its kernel module.
  private struct Relay {
    let run: ProgramRun
    let definition: String

    private let control: Int
    private let media: Int

    init(_ rtpengine: String) throws {
      try self.init(rtpengine, control: Bench.port(), media: Bench.port())
    }

    private init(_ rtpengine: String, control: Int, media: Int) throws {
      self.control = control
      self.media = media
      run = try ProgramRun(
        rtpengine,
        [
          "--table=-1", "--foreground", "--log-stderr", "--interface=127.0.0.1",
          "--listen-ng=127.0.0.1:\(control)", "--port-min=\(media)", "--port-max=\(media + 200)",
          "--log-level=6", "--config-file=none",
        ]
      )
      definition = "RELAY=\"udp:127.0.0.1:\(control)\""
    }

    /// Another relay in its place, which knows of no call.
    func restarted(_ rtpengine: String) throws -> Relay {
      run.killGroup()
      _ = run.waitForExit(seconds: 5)
      return try Relay(rtpengine, control: control, media: media)
    }
  }

  private func node(_ environment: [String: String]) throws -> ProgramRun {
    let node = try Bench.run(
      [
        "listen", "--answer", "--echo", "--account", "service@localhost", "--listen", "127.0.0.1:0",
        "--json",
      ],
      environment: environment
    )
    #expect(node.wait(for: "\"seconds\":600"), "\(node.output)")
    return node
  }

  private func call(
    _ environment: [String: String],
    seconds: Int? = nil
  ) throws -> ProgramRun {
    try Bench.run(
      ["call", "service", "--headset", "null", "--json"]
        + (seconds.map { ["--duration", "\($0)"] } ?? []),
      environment: environment
    )
  }

  /// The relay carries voice that it cannot decrypt.
  @Test func relayPassesEncryptedVoice() throws {
    guard SIPServer.kamailio != nil, let rtpengine = Bench.find("rtpengine") else {
      return Bench.skip(Self.packages)
    }
    let relay = try Relay(rtpengine)
    let server = try SIPServer(definitions: [relay.definition])
    let node = try node(server.account("service"))
    let said = server.folder.appendingPathComponent("said.wav")
    let heard = server.folder.appendingPathComponent("heard.wav")
    try Bench.speak(Bench.aliceText, voice: "en", to: said)
    let caller = try Bench.run(
      [
        "call", "service", "--json", "--duration", "7", "--security", "required", "--capture",
        "file:\(said.path)", "--playback", "file:\(heard.path)",
      ],
      environment: server.account("alice")
    )
    #expect(caller.waitForExit() == 0, "\(caller.output) \(relay.run.output)")
    #expect(try Bench.carries(said, in: heard))
    #expect(caller.printed("\"words\":\""), "\(caller.output)")
    node.signal(SIGINT)
    relay.run.killGroup()
  }

  /// A relay that has lost all calls gets them back: the sides agree on the media once more.
  @Test func callOutlivesTheRelay() throws {
    guard SIPServer.kamailio != nil, let rtpengine = Bench.find("rtpengine") else {
      return Bench.skip(Self.packages)
    }
    let first = try Relay(rtpengine)
    let server = try SIPServer(definitions: [first.definition])
    let node = try node(server.account("service"))
    let said = server.folder.appendingPathComponent("said.wav")
    let heard = server.folder.appendingPathComponent("heard.wav")
    try Tones.write(hertz: 500, seconds: 30, to: said)
    let caller = try Bench.run(
      [
        "call", "service", "--json", "--duration", "20", "--capture", "file:\(said.path)",
        "--playback", "file:\(heard.path)",
      ],
      environment: server.account("alice")
    )
    #expect(caller.wait(for: "\"seconds\":3"), "\(caller.output)")
    let second = try first.restarted(rtpengine)
    #expect(caller.waitForExit() == 0, "\(caller.output)")
    let tenths = try Tones.presence(of: 500, in: heard)
    // It is heard at the end, and was away for less than eight seconds.
    #expect(tenths.suffix(40).dropLast(5).count { $0 } > 25, "\(tenths.count)")
    #expect(tenths.count { $0 } > 100, "\(tenths.count { $0 })")
    node.signal(SIGINT)
    second.run.killGroup()
  }

  /// Callers are spread over nodes; one that is killed ends its calls with a reason, and the next
  /// calls succeed.
  ///
  /// With a relay between the sides it is the server that reports a lost node.
  @Test(arguments: [false, true])
  func nodesShareTheCallsAndTakeOverFromOneThatIsGone(isRelayed: Bool) throws {
    guard SIPServer.kamailio != nil, let rtpengine = Bench.find("rtpengine") else {
      return Bench.skip(Self.packages)
    }
    let relay = try isRelayed ? Relay(rtpengine) : nil
    let server = try SIPServer(definitions: relay.map { [$0.definition] } ?? [])
    defer { relay?.run.killGroup() }
    let service = try server.account("service")
    let alice = try server.account("alice")
    let nodes = try (0..<3).map { _ in try node(service) }
    let calls = try (0..<3).map { _ in
      let call = try call(alice)
      // Who vanishes before there are keys is not gone, but never was there.
      #expect(call.wait(for: "\"keyExchange\""), "\(call.output)")
      return call
    }
    // One for each.
    for node in nodes {
      let hasAnswered = node.wait(for: "\"event\":\"answered\"")
      #expect(hasAnswered, "\((nodes + calls).map(\.output))")
    }
    nodes[0].signal(SIGKILL)
    func ended() -> Int { calls.count { $0.printed("the far side is gone") } }
    #expect(Patience.waits { ended() > 0 }, "\(calls.map(\.output))")
    for _ in 0..<3 {
      let call = try call(alice, seconds: 1)
      #expect(call.waitForExit() == 0, "\(call.output)")
    }
    #expect(ended() == 1, "\(calls.map(\.output))")
    for call in calls { call.signal(SIGINT) }
    for node in nodes.dropFirst() { node.signal(SIGINT) }
    for node in nodes.dropFirst() { #expect(node.waitForExit() == 0) }
  }
}
