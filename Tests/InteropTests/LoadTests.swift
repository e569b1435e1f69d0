import Foundation
import Testing

/// Programs of this package under load, which report the results themselves.
@Suite(.waiting)
struct LoadTests {
  @Test func voiceThreadNeverAllocatesOnceACallRuns() throws {
    let run = try ProgramRun(try Bench.sibling("allocation-probe"), [])
    let status = run.waitForExit()
    print(run.output)
    #expect(status == 0, "\(run.output)")
  }

  @Test func directoryOfTwoMillionNumbersLoadsTwiceAndAnswers() throws {
    let folder = try Bench.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let program = try Bench.sibling("directory-load")
    let extensions = folder.appendingPathComponent("sidetone/extensions")
    try FileManager.default.createDirectory(at: extensions, withIntermediateDirectories: true)
    let entry = ["identifier": "two-million", "executable": program]
    try JSONEncoder().encode(entry)
      .write(to: extensions.appendingPathComponent("two-million.json"))
    let run = try ProgramRun(program, [], environment: ["XDG_DATA_HOME": folder.path])
    let status = run.waitForExit()
    print(run.output)
    #expect(status == 0, "\(run.output)")
    #expect(run.printed("10000 of 20000 numbers are known"))
    let peak = run.output.split(separator: "\n").first { $0.hasPrefix("peak memory") }
    let megabytes = try #require(peak?.split(separator: " ").compactMap { Int($0) }.first)
    // Entries go to the store as they come: two million in memory would be 100 MB and more.
    #expect(megabytes < 100)
  }
}
