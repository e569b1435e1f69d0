import Foundation
import ProgramRig
import Testing

/// A call between sound cards of a real kernel.
@Suite(.enabled(if: GuestScript.canRun))
struct CallKindTests {
  @Test func callOverSoundCards() throws {
    let scenario = try #require(Scenario.all.first { $0.name == "plain" })
    let share = ProgramUnderTest.package.appendingPathComponent(".build/card")
    try GuestScript.write(scenario.invocation, to: share)
    let machine = try GuestScript.machine.get()
    try machine.boot(sharing: share, processorSeconds: 240 + 8 * Double(scenario.seconds))
    let folder = share.appendingPathComponent("out/\(scenario.name)")
    try Outcome(of: scenario, in: folder).expectHeard()
  }
}
