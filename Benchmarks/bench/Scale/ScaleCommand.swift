import ProgramRig
import ArgumentParser
import Drawing
import Foundation
import Rig

/// Many calls to one echo service: the cost of each, and the lateness of the voice threads.
struct ScaleCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scale",
    abstract:
      "Processor, memory and lateness of `sidetone listen --answer --echo` by number of calls."
  )

  @Option(help: "Numbers of calls, separated by commas; 0 shows what the machine alone does.")
  var calls = "0,1,10,50,100"

  @Option(help: ArgumentHelp("How much the bot's encoder computes, 0 to 10.", valueName: "n"))
  var complexity = 2

  @OptionGroup var options: BenchOptions

  private var seconds: Int { options.seconds ?? 15 }
  private var counts: [Int] { calls.split(separator: ",").compactMap { Int($0) } }

  func validate() throws {
    guard !counts.isEmpty, counts.allSatisfy({ (0...500).contains($0) }) else {
      throw ValidationError("--calls is a list of numbers from 0 to 500")
    }
  }

  func run() async throws {
    let work = try WorkFolder()
    defer { work.remove() }
    let conversation = try Conversation(in: work.url)
    let speech = conversation.utterances.joined().flatMap(\.samples)
    var report = ScaleReport(complexity: complexity)
    for count in counts {
      let row = try await measure(count, saying: speech, in: work.url)
      print(row.line)
      fflush(nil)
      report.rows.append(row)
    }
    if let folder = options.results() { try report.write(to: folder) }
  }

  private func measure(
    _ count: Int,
    saying speech: [Float],
    in folder: URL
  ) async throws -> ScaleRow {
    let port = Int.random(in: 20_000...30_000)
    let bot = try RunningProgram(
      Invocation(
        options.program,
        [
          "listen", "--answer", "--echo", "--listen", "127.0.0.1:\(port)", "--json",
          "--frame", "20", "--complexity", "\(complexity)", "--calls", "\(max(1, count))",
        ]
      ),
      environment: ["XDG_DATA_HOME": folder.path],
      log: folder.appendingPathComponent("bot-\(count).log")
    )
    defer { bot.stop() }
    guard bot.waits(for: "registered", seconds: 10) else {
      throw RigError("the bot does not listen: \(bot.output)")
    }
    let idleMemory = bot.residentMegabytes
    let generator = try LoadGenerator(count, saying: speech)
    let agreed = try await generator.call("sip:echo@127.0.0.1:\(port)")
    guard agreed == count else {
      _ = await generator.stop()
      throw RigError("only \(agreed) of \(count) calls were answered")
    }
    if count > 0 { try generator.speak() }
    try await Task.sleep(for: .seconds(2))
    let before = bot.processorSeconds
    try await Task.sleep(for: .seconds(seconds))
    let spent = bot.processorSeconds - before
    let memory = bot.residentMegabytes
    let echoed = await generator.stop()
    var row = ScaleRow(calls: count)
    row.processorMilliseconds = 1_000 * spent / Double(seconds) / Double(max(1, count))
    row.megabytes = (memory - idleMemory) / Double(max(1, count))
    row.echoedShare = echoed
    // The last report while all calls stood.
    for line in bot.output.split(separator: "\n") {
      let object = try? JSONSerialization.jsonObject(with: Data(line.utf8))
      guard let fields = object as? [String: Any], fields["event"] as? String == "load",
        fields["calls"] as? Int == count, let periods = fields["periods"] as? Int, periods > 0
      else { continue }
      row.lateMedian = fields["lateMedianMs"] as? Double ?? .nan
      row.late99 = fields["late99Ms"] as? Double ?? .nan
      row.late999 = fields["late999Ms"] as? Double ?? .nan
    }
    return row
  }
}
