import Foundation
import ProgramRig
import Testing

/// Scripts for the virtual machine with sound cards, based on `Guest/guest.sh`.
enum GuestScript {
  static let canRun = ProgramUnderTest.canRun(
    missing: KernelMachine.missing
  )

  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

  /// The machine, with the programs on its disk.
  static let machine = Result {
    let sidetone = try #require(ProgramUnderTest.url, "build the program first: swift build")
    let probe = sidetone.deletingLastPathComponent().appendingPathComponent("fault-probe")
    return try KernelMachine(
      in: ProgramUnderTest.package.appendingPathComponent(".build/machine"),
      programs: [sidetone, probe],
      initialisation: folder.appendingPathComponent("Guest/init")
    )
  }

  /// Source of the shell functions that a script may use.
  static func functions() throws -> String {
    try String(contentsOf: folder.appendingPathComponent("Guest/guest.sh"), encoding: .utf8)
  }

  /// Empties `share`, where recordings and logs will stay, and puts a script there.
  ///
  /// It sets up three sound cards and then runs `commands`.
  static func write(_ commands: String, to share: URL) throws {
    // What is not there yet need not be removed.
    try? FileManager.default.removeItem(at: share)
    try FileManager.default.createDirectory(at: share, withIntermediateDirectories: true)
    let script = try functions() + "cards\n\(commands)\n"
    try Data(script.utf8).write(to: share.appendingPathComponent("guest.sh"))
  }
}
