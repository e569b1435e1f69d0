import Foundation
import Testing

/// Two network namespaces joined by a virtual cable are two hosts.
@Suite(.waiting, .serialized)
struct NamespaceTests {
  @Test func callByAddressWorksAndAKilledPeerIsNoticed() throws {
    guard let ip = Bench.ip, let hosts = try TwoHosts(ip) else {
      return Bench.skip("iproute2 root")
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
    #expect(listener.wait(for: "the far side is gone"))
    listener.signal(SIGTERM)
    _ = listener.waitForExit()
  }

  @Test(arguments: TwoHosts.Addressing.unusual)
  func callWorksInAnUnusualNetwork(addressing: TwoHosts.Addressing) throws {
    guard let ip = Bench.ip, let hosts = try TwoHosts(ip, addressing) else {
      return Bench.skip("iproute2 root")
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

  /// The caller gets another address in the middle of a sentence: both sides still receive each
  /// other.
  @Test func callGoesOnFromAnotherAddress() throws {
    guard let ip = Bench.ip, let hosts = try TwoHosts(ip) else {
      return Bench.skip("iproute2 root")
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
    #expect(listener.wait(for: "\"ended\""))
    #expect(try Bench.carries(said, in: heard[0]))
    #expect(try Bench.carries(said, in: heard[1]))
    listener.signal(SIGTERM)
    _ = listener.waitForExit()
  }
}
