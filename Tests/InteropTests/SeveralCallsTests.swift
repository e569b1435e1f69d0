import Foundation
import ProgramRig
import Testing

/// Hold, a second call, a conference and keys, between processes, on the wire and in the sound.
@Suite(.waiting, .serialized)
struct SeveralCallsTests {
  private func pair() throws -> (alice: Party, bob: Party, port: Int, folder: URL) {
    let folder = try Bench.folder()
    let port = Bench.port()
    let bob = try Party(
      "bob",
      hertz: 800,
      in: folder,
      ["listen", "--listen", "127.0.0.1:\(port)"]
    )
    #expect(bob.event("registered"))
    let alice = try Party("alice", hertz: 500, in: folder, ["call", "sip:bob@127.0.0.1:\(port)"])
    #expect(bob.event("incoming"))
    bob.run.press("a")
    #expect(alice.event("connected") && bob.event("connected"))
    return (alice, bob, port, folder)
  }

  @Test func heldCallIsSilentBothWaysAndTheVoiceComesBack() throws {
    let (alice, bob, _, _) = try pair()
    #expect(try bob.goesOnHearing(alice, tenths: 15))
    alice.run.press("o")
    #expect(alice.event("held") && bob.event("heldByFarSide"))
    #expect(alice.event("audioDeactivated"))
    #expect(bob.sound.goesOn(seconds: 2))
    alice.run.press("o")
    #expect(alice.event("audioActivated", times: 2))
    #expect(alice.event("resumed") && bob.event("resumedByFarSide"))
    #expect(try bob.goesOnHearing(alice, tenths: 15))
    alice.run.press("h")
    #expect(alice.run.waitForExit() == 0)
    bob.run.signal(SIGINT)
    #expect(bob.run.waitForExit() != nil)
    // Bob's devices were open all the time: his recording shows the gap.
    let heard = try bob.hears(alice)
    let first = try #require(heard.firstIndex(of: true))
    let last = try #require(heard.lastIndex(of: true))
    let gap = heard[first...last].split(separator: true).map(\.count).max() ?? 0
    #expect(gap >= 17, "\(gap) tenths of silence")
  }

  @Test func bothSidesMayHoldAndEachIsToldOfTheOther() throws {
    let (alice, bob, _, _) = try pair()
    // A hold before the devices are open would leave nothing to deactivate.
    #expect(alice.event("audioActivated") && bob.event("audioActivated"))
    alice.run.press("o")
    #expect(alice.event("held") && bob.event("heldByFarSide"))
    bob.run.press("o")
    #expect(bob.event("held") && bob.event("audioDeactivated"))
    alice.run.press("o")
    // Bob still holds it: there is no sound.
    #expect(alice.event("resumed") && alice.event("heldByFarSide"))
    bob.run.press("o")
    #expect(bob.event("resumed") && bob.event("resumedByFarSide"))
    #expect(alice.event("resumedByFarSide"))
    #expect(try bob.goesOnHearing(alice, tenths: 5) && alice.goesOnHearing(bob, tenths: 5))
    alice.run.press("h")
    #expect(alice.run.waitForExit() == 0)
    bob.run.signal(SIGINT)
    #expect(bob.run.waitForExit() != nil)
  }

  @Test func keysArriveAsTelephoneEvents() throws {
    let (alice, bob, _, _) = try pair()
    alice.run.press("5#")
    #expect(bob.run.wait(for: "\"key\":\"5\"") && bob.run.wait(for: "\"key\":\"#\""))
    bob.run.press("0")
    #expect(alice.run.wait(for: "\"key\":\"0\""))
    #expect(bob.run.output.components(separatedBy: "\"event\":\"key\"").count == 3)
    alice.run.press("h")
    #expect(alice.run.waitForExit() == 0)
  }

  @Test func secondCallHoldsTheFirstAndAConferenceJoinsAllThree() throws {
    let (alice, bob, port, folder) = try pair()
    let carol = try Party("carol", hertz: 1_250, in: folder, ["call", "sip:bob@127.0.0.1:\(port)"])
    #expect(bob.event("incoming", times: 2))
    bob.run.press("a")
    #expect(carol.event("connected") && alice.event("heldByFarSide"))
    #expect(try bob.goesOnHearing(carol, tenths: 15))
    // Back to Alice, and to Carol again.
    bob.run.press("s")
    #expect(alice.event("resumedByFarSide") && carol.event("heldByFarSide"))
    #expect(try bob.goesOnHearing(alice, tenths: 5))
    bob.run.press("c")
    #expect(bob.event("joined") && carol.event("resumedByFarSide"))
    #expect(try alice.goesOnHearing(carol, tenths: 20), "Alice hears Carol through Bob")
    #expect(try carol.goesOnHearing(alice, tenths: 20), "Carol hears Alice through Bob")
    bob.run.press("h")
    #expect(alice.run.waitForExit() != nil || carol.run.waitForExit() != nil)
    bob.run.signal(SIGINT)
    #expect(bob.run.waitForExit() != nil && alice.run.waitForExit() != nil)
    #expect(carol.run.waitForExit() != nil)

    let both = zip(try alice.hears(carol), try alice.hears(bob)).count { $0 && $1 }
    #expect(both >= 15, "Alice hears both at once")
    let together = zip(try bob.hears(alice), try bob.hears(carol)).count { $0 && $1 }
    #expect(together >= 15, "Bob hears both at once")
  }

  @Test func userEndingTheSecondCallBringsBackTheFirst() throws {
    let (alice, bob, port, folder) = try pair()
    let carol = try Party("carol", hertz: 1_250, in: folder, ["call", "sip:bob@127.0.0.1:\(port)"])
    #expect(bob.event("incoming", times: 2))
    bob.run.press("a")
    #expect(carol.event("connected") && bob.event("held"))
    #expect(bob.event("connected", times: 2))
    bob.run.press("h")
    #expect(carol.run.waitForExit() == 0)
    #expect(bob.event("resumed") && alice.event("resumedByFarSide"))
    #expect(bob.event("audioActivated", times: 3))
    alice.run.press("h")
    #expect(alice.run.waitForExit() == 0)
  }

  @Test func endAndAnswerEndsTheFirst() throws {
    let (alice, bob, port, folder) = try pair()
    let carol = try Party("carol", hertz: 1_250, in: folder, ["call", "sip:bob@127.0.0.1:\(port)"])
    #expect(bob.event("incoming", times: 2))
    bob.run.press("e")
    #expect(alice.run.waitForExit() == 0)
    #expect(carol.event("connected"))
    carol.run.press("h")
    #expect(carol.run.waitForExit() == 0)
  }
}
