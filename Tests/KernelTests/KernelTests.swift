import Foundation
import ProgramRig
import Testing

/// Calls on a real kernel's sound cards, with faults.
///
/// One virtual machine runs all scenarios, and counts its time in instructions: what this machine
/// does meanwhile changes nothing. `KERNEL_SCENARIOS` names those that run, separated by commas, or
/// is `all`, which takes eleven minutes; `make test-faults` sets it.
@Suite(.serialized, .enabled(if: GuestScript.canRun))
struct KernelTests {
  private static let few =
    "killed,clock-set,suspended,stopped-50,headset-replugged,netem-loss"

  private static func isWanted(_ name: String) -> Bool {
    let wanted = (ProcessInfo.processInfo.environment["KERNEL_SCENARIOS"] ?? few).split(
      separator: ","
    ).map(String.init)
    return wanted == ["all"] || wanted.contains(name)
  }

  static let scenarios = Scenario.all.filter { isWanted($0.name) }

  /// Folder of recordings and logs.
  private static let share = ProgramUnderTest.package.appendingPathComponent(".build/faults")

  /// Run of the machine through all scenarios, until it has turned itself off.
  private static let run = Result {
    let calls = scenarios.map(\.invocation).joined(separator: "\n")
    try GuestScript.write(calls, to: share)
    let kernel = try GuestScript.machine.get()
    // The machine's own seconds take as long as this one needs for a thousand million instructions:
    // a third of this on an idle computer, and there are slower ones.
    let seconds = scenarios.reduce(240) { $0 + 6 * Double($1.seconds) + 60 }
    try kernel.boot(sharing: share, processorSeconds: seconds)
  }

  @Test(arguments: scenarios) func callOutlives(_ scenario: Scenario) throws {
    try Self.run.get()
    let folder = Self.share.appendingPathComponent("out/\(scenario.name)")
    try Outcome(of: scenario, in: folder).expectHeard()
  }

  @Test(.enabled(if: isWanted(WiredPair.name))) func twoMachinesOnAWireHearEachOther() throws {
    let outcomes = try WiredPair.run(
      GuestScript.machine.get(),
      functions: GuestScript.functions(),
      in: Self.share
    )
    for outcome in outcomes { outcome.expectHeard() }
  }
}
