import Foundation
import ProgramRig
import Testing

private let canRun = ProgramUnderTest.canRun(
  "calls on a real kernel",
  missing: KernelMachine.missing
)

/// Calls on a real kernel's sound cards, to which things happen.
///
/// One virtual machine runs all scenarios, and counts its time in instructions: what this machine
/// does meanwhile changes nothing. `KERNEL_SCENARIOS` names those that run, separated by commas, or
/// is `all`, which takes eleven minutes; `make test-faults` sets it.
@Suite(.serialized, .enabled(if: canRun))
struct KernelTests {
  private static let few = "plain,stopped-50,headset-replugged,netem-loss"

  private static func isWanted(_ name: String) -> Bool {
    let wanted = (ProcessInfo.processInfo.environment["KERNEL_SCENARIOS"] ?? few).split(
      separator: ","
    ).map(String.init)
    return wanted == ["all"] || wanted.contains(name)
  }

  static let scenarios = Scenario.all.filter { isWanted($0.name) }

  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  /// Where recordings and logs stay.
  private static let share = ProgramUnderTest.package.appendingPathComponent(".build/faults")

  private static let machine = Result {
    let sidetone = try #require(ProgramUnderTest.url, "build the program first: swift build")
    let probe = sidetone.deletingLastPathComponent().appendingPathComponent("fault-probe")
    // What is not there yet need not be removed.
    try? FileManager.default.removeItem(at: share)
    try FileManager.default.createDirectory(at: share, withIntermediateDirectories: true)
    return try KernelMachine(
      in: ProgramUnderTest.package.appendingPathComponent(".build/machine"),
      programs: [sidetone, probe],
      initialisation: folder.appendingPathComponent("Guest/init")
    )
  }

  private static func functions() throws -> String {
    try String(contentsOf: folder.appendingPathComponent("Guest/guest.sh"), encoding: .utf8)
  }

  /// The machine has run them all and turned itself off.
  private static let run = Result {
    let calls = scenarios.map(\.invocation).joined(separator: "\n")
    let script = try functions() + "cards\n\(calls)\n"
    let kernel = try machine.get()
    try Data(script.utf8).write(to: share.appendingPathComponent("guest.sh"))
    // The machine's own seconds take as long as this one needs for a thousand million instructions.
    let seconds = scenarios.reduce(120) { $0 + 3 * Double($1.seconds) + 30 }
    try kernel.boot(sharing: share, seconds: seconds)
  }

  private func expect(_ outcome: Outcome) {
    print(outcome.line)
    #expect(outcome.isRecovered, "the voice is heard at the end")
    #expect(outcome.complaints == [])
    #expect(outcome.delays == [])
  }

  @Test(arguments: scenarios) func callOutlives(_ scenario: Scenario) throws {
    try Self.run.get()
    let folder = Self.share.appendingPathComponent("out/\(scenario.name)")
    expect(try Outcome(of: scenario, in: folder))
  }

  @Test(.enabled(if: isWanted(WiredPair.name))) func twoMachinesOnAWireHearEachOther() throws {
    let outcomes = try WiredPair.run(
      Self.machine.get(),
      functions: Self.functions(),
      in: Self.share
    )
    for outcome in outcomes { expect(outcome) }
  }
}
