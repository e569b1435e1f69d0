import Foundation
import Testing

/// A held call has no voice to show that the far side is still there.
@Suite(.waiting)
struct HeldCallTests {
  @Test func aHeldCallEndsAfterTheFarSideHasCrashed() throws {
    let port = Bench.port()
    let listening = [
      "listen", "--answer", "--listen", "127.0.0.1:\(port)", "--headset", "null", "--json",
    ]
    let listener = try Bench.run(listening)
    #expect(listener.wait(for: "registered"))
    let caller = try Bench.run(
      [
        "call", "sip:bob@127.0.0.1:\(port)", "--listen", "127.0.0.1:0", "--headset", "null",
        "--keys", "--json",
      ]
    )
    // A call whose keys are not agreed on yet ends for that reason.
    #expect(caller.wait(for: "secured"), "\(caller.output)")
    #expect(caller.wait(for: "connected"), "\(caller.output)")
    caller.press("o")
    #expect(caller.wait(for: "\"held\""), "\(caller.output)")
    #expect(listener.wait(for: "heldByFarSide"), "\(listener.output)")
    listener.signal(SIGKILL)
    _ = listener.waitForExit()
    // The program that is started next knows nothing of the call, and says so when it is asked.
    let next = try Bench.run(listening)
    #expect(next.wait(for: "registered"))
    #expect(caller.wait(for: "the far side is gone"), "\(caller.output)")
    #expect(caller.waitForExit() == 1)
    next.signal(SIGINT)
    #expect(next.waitForExit() == 0)
  }

  /// The path of the voice is lost after 30 s without an answer (RFC 7675); a held call needs none.
  @Test func aHeldCallOutlivesANetworkThatIsAway() throws {
    guard let scene = try DividedScene(isForwarding: true) else {
      return Bench.skip(DividedScene.packages)
    }
    let (caller, listener) = try scene.heldCall()
    let before = caller.output.components(separatedBy: "\"event\":\"path\"").count - 1
    try scene.network.setSilent(0, true)
    #expect(!caller.wait(for: "\"event\":\"ended\"", seconds: 37), "\(caller.output)")
    try scene.network.setSilent(0, false)
    // The next question is answered, so a way is looked for again.
    let isFound = caller.wait(for: "\"event\":\"path\"", times: before + 1)
    #expect(isFound, "\(caller.output)")
    caller.press("o")
    #expect(listener.wait(for: "resumedByFarSide"), "\(listener.output)")
    #expect(caller.wait(for: "\"event\":\"resumed\""), "\(caller.output)")
    #expect(caller.hearsVoice() && listener.hearsVoice(), "\(caller.output)")
    caller.press("h")
    #expect(caller.waitForExit() == 0, "\(caller.output)")
    #expect(listener.waitForExit() == 0, "\(listener.output)")
  }
}
