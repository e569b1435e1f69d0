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
    #expect(caller.wait(for: "the far side is gone", seconds: 60), "\(caller.output)")
    #expect(caller.waitForExit() == 1)
    next.signal(SIGINT)
    #expect(next.waitForExit() == 0)
  }
}
