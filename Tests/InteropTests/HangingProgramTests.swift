import BusFixture
import DesktopServices
import Foundation
import ProgramRig
import Testing

/// A program that hangs in a call, as another one on the same bus sees it.
@Suite(.waiting)
struct HangingProgramTests {
  @Test func callsOfAProgramThatHangsAreGone() throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let port = Bench.port()
    let far = try Bench.run([
      "listen", "--answer", "--echo", "--headset", "null", "--json",
      "--listen", "127.0.0.1:\(port)",
    ])
    #expect(far.wait(for: "registered"))
    let program = try Bench.run(
      ["call", "sip:echo@127.0.0.1:\(port)", "--headset", "null", "--json", "--keys"],
      environment: ["DBUS_SESSION_BUS_ADDRESS": daemon.address]
    )
    #expect(program.wait(for: "\"connected\""), "\(program.output)")
    let others = ProgramCalls(address: daemon.address)
    #expect(Patience.waits { others.calls.first?.hasConnected == true })
    #expect(others.calls.count == 1 && others.calls.allSatisfy(\.isActive))
    program.signal(SIGSTOP)
    #expect(Patience.waits { others.known.isEmpty })
    program.signal(SIGCONT)
    // It is seen again once its call changes.
    program.press("o")
    #expect(Patience.waits { others.known.first?.isOnHold == true })
    program.press("h")
    #expect(program.waitForExit() == 0, "\(program.output)")
    #expect(Patience.waits { others.known.isEmpty })
    far.signal(SIGKILL)
  }
}
