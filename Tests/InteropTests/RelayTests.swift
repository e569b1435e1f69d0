import Foundation
import Testing

/// A real TURN server, coturn, between two hosts that do not reach each other.
@Suite(.waiting, .serialized)
struct RelayTests {
  @Test(
    "both hear each other by the relay, however it is reached",
    arguments: [
      "turn:\(DividedNetwork.server)", "turn:\(DividedNetwork.server)?transport=tcp",
      "turns:\(DividedNetwork.server)",
    ]
  )
  func callsAreRelayed(uri: String) throws {
    guard let scene = try DividedScene() else { return Bench.skip(DividedScene.packages) }
    let folder = scene.server.folder
    let said = ["a", "b"].map { folder.appendingPathComponent("said-\($0).wav") }
    let heard = ["a", "b"].map { folder.appendingPathComponent("heard-\($0).wav") }
    try Bench.speak(Bench.aliceText, voice: "en", to: said[0])
    try Bench.speak(Bench.bobText, voice: "en+f3", to: said[1])
    func devices(_ index: Int) -> [String] {
      ["--capture", "file:\(said[index].path)", "--playback", "file:\(heard[index].path)"]
    }
    let listener = try scene.listen(scene.account("bob", uri), devices(1))
    let caller = try scene.call(scene.account("alice", uri), ["--duration", "8"] + devices(0))
    #expect(caller.waitForExit() == 0, "\(caller.output)")
    #expect(listener.waitForExit() == 0, "\(listener.output)")
    #expect(caller.printed("\"kind\":\"relayed\""), "\(caller.output)")
    #expect(caller.printed("\"keyExchange\":\"DTLS-SRTP\""))
    #expect(try Bench.carries(said[0], in: heard[1]))
    #expect(try Bench.carries(said[1], in: heard[0]))
  }

  @Test("a hold does not close the way")
  func heldCallsComeBack() throws {
    guard let scene = try DividedScene() else { return Bench.skip(DividedScene.packages) }
    let (caller, listener) = try scene.heldCall()
    caller.press("o")
    #expect(listener.wait(for: "resumedByFarSide"), "\(listener.output)")
    #expect(caller.wait(for: "\"seconds\":4"), "\(caller.output)")
    caller.press("h")
    #expect(caller.waitForExit() == 0, "\(caller.output)")
    #expect(listener.waitForExit() == 0, "\(listener.output)")
    #expect(!caller.printed("\"clean\":false"))
  }

  @Test("what is wrong with a relay is said in one sentence, and the call ends in another")
  func mistakesAreNamed() throws {
    guard let scene = try DividedScene(quota: 1) else { return Bench.skip(DividedScene.packages) }
    let uri = "turn:\(DividedNetwork.server)"
    let bob = try scene.account("bob", "turn:\(DividedNetwork.server):1")
    let listener = try scene.network.start(
      on: 1,
      ["listen", "--answer", "--json", "--headset", "null"],
      environment: bob
    )
    #expect(listener.wait(for: "\"seconds\":600"), "\(listener.output)")
    let stranger = try scene.call(
      scene.account("alice", uri, login: "stranger"),
      ["--headset", "null"]
    )
    #expect(stranger.wait(for: "does not accept the login \\\"stranger\\\" and its password"))
    #expect(stranger.waitForExit() == 1)
    #expect(stranger.printed("no way to the far side is open"), "\(stranger.output)")
    // One relayed call is as many as the login may have.
    let alice = try scene.account("alice", uri)
    let first = try scene.call(alice, ["--headset", "null"])
    #expect(first.wait(for: "\"kind\":\"relayed\""), "\(first.output)")
    let second = try scene.call(alice, ["--headset", "null"])
    #expect(
      second.wait(for: "has as many relayed calls as it may have"),
      "\(second.output)"
    )
    first.signal(SIGTERM)
    second.signal(SIGTERM)
    _ = (first.waitForExit(), second.waitForExit())
    listener.signal(SIGTERM)
    _ = listener.waitForExit()
  }
}
