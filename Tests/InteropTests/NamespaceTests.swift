import Foundation
import Testing

/// Two network namespaces joined by a virtual cable are two hosts.
@Suite(.serialized)
struct NamespaceTests {
  /// How the two hosts number their cable, and whether they reach themselves.
  struct Addressing: CustomStringConvertible, Sendable {
    let description: String
    var network = "10.77.0."
    var prefixLength = 24
    var hasLoopback = true
    /// The second host, as a SIP URI has it.
    var secondHost: String { network.contains(":") ? "[\(network)2]" : "\(network)2" }

    static let usual = Addressing(description: "IPv4")
    static let unusual = [
      Addressing(description: "IPv6 alone", network: "fd00:77::", prefixLength: 64),
      Addressing(description: "no loopback interface", hasLoopback: false),
    ]
  }

  /// Makes the hosts, and takes them away again.
  private final class Hosts {
    let ip: String
    let names: [String]

    init?(_ ip: String, _ addressing: Addressing = .usual) throws {
      self.ip = ip
      let tag = String(UUID().uuidString.prefix(4)).lowercased()
      names = ["st\(tag)a", "st\(tag)b"]
      for name in names where try !run(["netns", "add", name]) { return nil }
      guard
        try run(["link", "add", "v\(tag)a", "type", "veth", "peer", "name", "v\(tag)b"])
      else { return nil }
      for (index, name) in names.enumerated() {
        let cable = "v\(tag)" + (index == 0 ? "a" : "b")
        guard try run(["link", "set", cable, "netns", name]),
          try run(
            ["-n", name, "addr", "add", "dev", cable]
              + ["\(addressing.network)\(index + 1)/\(addressing.prefixLength)"]
              // Usable at once: nothing else has the address (RFC 4862 section 5.4).
              + (addressing.network.contains(":") ? ["nodad"] : [])
          ),
          try run(["-n", name, "link", "set", cable, "up"]),
          try !addressing.hasLoopback || run(["-n", name, "link", "set", "lo", "up"])
        else { return nil }
      }
    }

    deinit {
      for name in names { _ = try? run(["netns", "delete", name]) }
    }

    /// Gives a host another address in place of the one it has.
    func move(_ host: Int, to number: Int) throws {
      let cable = "\(names[host].replacing("st", with: "v"))"
      let before = "10.77.0.\(host + 1)/24"
      let isMoved =
        try run(["-n", names[host], "addr", "del", before, "dev", cable])
        && run(["-n", names[host], "addr", "add", "10.77.0.\(number)/24", "dev", cable])
      #expect(isMoved)
    }

    private func run(_ arguments: [String]) throws -> Bool {
      try ProgramRun(ip, arguments).waitForExit() == 0
    }

    func start(on host: Int, _ arguments: [String]) throws -> ProgramRun {
      let program = try #require(Bench.program)
      return try ProgramRun(ip, ["netns", "exec", names[host], program] + arguments)
    }
  }

  @Test func callByAddressWorksAndAKilledPeerIsNoticed() throws {
    guard let ip = Bench.ip, let hosts = try Hosts(ip) else {
      return Bench.skip("iproute2, run as root")
    }
    let folder = try Bench.folder()
    let said = folder.appendingPathComponent("said.wav")
    let heard = folder.appendingPathComponent("heard.wav")
    try Bench.speak(Bench.aliceText, voice: "en", to: said)
    let listener = try hosts.start(
      on: 1,
      ["listen", "--answer", "--json", "--capture", "null", "--playback", "file:\(heard.path)"]
    )
    #expect(listener.wait(for: "10.77.0.2:5060"))
    let caller = try hosts.start(
      on: 0,
      [
        "call", "sip:bob@10.77.0.2", "--json", "--duration", "6", "--capture", "file:\(said.path)",
        "--playback", "null",
      ]
    )
    #expect(caller.waitForExit() == 0)
    #expect(listener.wait(for: "the far side hung up"))
    #expect(listener.wait(for: "audioDeactivated"))
    #expect(try Bench.carries(said, in: heard))

    let second = try hosts.start(
      on: 0,
      ["call", "sip:bob@10.77.0.2", "--json", "--headset", "null"]
    )
    #expect(second.wait(for: "\"stats\""))
    // `ip netns exec` replaces itself by the program, so the signal reaches that.
    second.signal(SIGKILL)
    #expect(listener.wait(for: "the far side is gone", seconds: 10))
    listener.signal(SIGTERM)
    _ = listener.waitForExit()
  }

  @Test(arguments: Addressing.unusual)
  func callWorksInAnUnusualNetwork(addressing: Addressing) throws {
    guard let ip = Bench.ip, let hosts = try Hosts(ip, addressing) else {
      return Bench.skip("iproute2, run as root")
    }
    let listener = try hosts.start(
      on: 1,
      ["listen", "--answer", "--once", "--json", "--headset", "null"]
    )
    #expect(listener.wait(for: "\(addressing.network)2"), "\(listener.output)")
    let caller = try hosts.start(
      on: 0,
      ["call", "sip:bob@\(addressing.secondHost)", "--json", "--duration", "2"]
        + ["--headset", "null"]
    )
    #expect(caller.waitForExit() == 0, "\(caller.output)")
    #expect(caller.printed("\"encrypted\":true"), "\(caller.output)")
    #expect(listener.waitForExit() == 0, "\(listener.output)")
  }

  /// The caller gets another address in the middle of a sentence: both go on hearing each other.
  @Test func callGoesOnFromAnotherAddress() throws {
    guard let ip = Bench.ip, let hosts = try Hosts(ip) else {
      return Bench.skip("iproute2, run as root")
    }
    let folder = try Bench.folder()
    let said = folder.appendingPathComponent("said.wav")
    let heard = ["a", "b"].map { folder.appendingPathComponent("heard-\($0).wav") }
    let text = [String](repeating: Bench.aliceText, count: 3).joined(separator: " ")
    try Bench.speak(text, voice: "en", to: said)
    let listener = try hosts.start(
      on: 1,
      [
        "listen", "--answer", "--json", "--capture", "file:\(said.path)", "--playback",
        "file:\(heard[1].path)",
      ]
    )
    #expect(listener.wait(for: "10.77.0.2:5060"))
    let caller = try hosts.start(
      on: 0,
      [
        "call", "sip:bob@10.77.0.2", "--json", "--duration", "15", "--capture",
        "file:\(said.path)", "--playback", "file:\(heard[0].path)",
      ]
    )
    #expect(caller.wait(for: "\"seconds\":3"), "\(caller.output)")
    try hosts.move(0, to: 9)
    #expect(caller.waitForExit() == 0, "\(caller.output)")
    // The goodbye comes from an address that is not the call's: the closed port says it.
    #expect(listener.wait(for: "\"ended\"", seconds: 10))
    #expect(try Bench.carries(said, in: heard[0]))
    #expect(try Bench.carries(said, in: heard[1]))
    listener.signal(SIGTERM)
    _ = listener.waitForExit()
  }
}
