import ProgramRig
import ArgumentParser
import Codecs
import Foundation
import Rig
import Simulation

/// Our playout beside NetEQ's design and fixed buffers, in virtual time, all fed the very same
/// packets.
struct PlayoutCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "playout",
    abstract: "Delay, concealment and sound of several receivers of the same packets."
  )

  @OptionGroup var options: BenchOptions

  @Option(help: "Seeds, separated by commas; each is a call of its own.")
  var seeds = "601,602,603"

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("How much too fast the sender's clock is, -1000 to 1000.", valueName: "ppm")
  )
  var drift = 0

  @Option(help: ArgumentHelp("How much of the start is not counted.", valueName: "seconds"))
  var settling = 5

  @Option(help: ArgumentHelp("Packet duration in ms: 2.5, 5, 10, 20, 40 or 60.", valueName: "ms"))
  var frame = 20.0

  @Option(help: ArgumentHelp("Opus bit rate.", valueName: "bit/s"))
  var bitrate = 32_000

  @Option(
    help: ArgumentHelp(
      "How much sidetone's Opus decoder computes: 0 to 10; for libopus 1.5 and later.",
      valueName: "number"
    )
  )
  var decoderComplexity: Int?

  @Option(
    help: ArgumentHelp(
      "What the loudspeaker asks sidetone for at a time: 0.5 to 10.",
      valueName: "ms"
    )
  )
  var pull = 2.5

  @Option(
    help: ArgumentHelp(
      "In whole calls, 3 to 20 ms and a hundred times a minute, what stands still at each end.",
      valueName: "what"
    )
  )
  var stalls: Stalls?

  /// Part that stands still: the program, the sound card, or both cards at once, as in one machine.
  enum Stalls: String, ExpressibleByArgument {
    case program
    case card
    case bothCards = "both-cards"
  }

  @Option(
    help: ArgumentHelp(
      "Sidetone alone, with and without mechanisms of its playout: names, or each.",
      valueName: "names"
    )
  )
  var without: String?

  @Flag(help: "Do not score the sound.")
  var unscored = false

  func validate() throws {
    guard [2.5, 5, 10, 20, 40, 60].contains(frame) else {
      throw ValidationError("--frame is 2.5, 5, 10, 20, 40 or 60")
    }
    guard !seedList.isEmpty, seedList.count == seeds.split(separator: ",").count else {
      throw ValidationError("--seeds is a list of numbers")
    }
    guard (-1_000...1_000).contains(drift) else {
      throw ValidationError("--drift is between -1000 and 1000")
    }
    guard [0.5, 1, 1.25, 2, 2.5, 5, 10].contains(pull) else {
      throw ValidationError("--pull is 0.5, 1, 1.25, 2, 2.5, 5 or 10")
    }
    if without != nil, ablations.isEmpty {
      throw ValidationError("--without takes \(Ablation.each.map(\.name)), or each")
    }
  }

  private var seedList: [UInt64] { seeds.split(separator: ",").compactMap { UInt64($0) } }

  private func hearings(of call: TestCall) throws -> [Hearing] {
    let pullFrames = Int(pull * 48)
    func own(without ablation: Ablation? = nil) throws -> OwnPlayout {
      try OwnPlayout(
        pullFrames: pullFrames,
        decoderComplexity: decoderComplexity,
        without: ablation
      )
    }
    func wholeCall(without ablation: Ablation? = nil) throws -> Hearing {
      try Hearing(inWholeCall: call, decoderComplexity: decoderComplexity, without: ablation)
    }
    if !ablations.isEmpty, options.only == Hearing.wholeCallName {
      return try ([nil] + ablations).map { try wholeCall(without: $0) }
    }
    guard ablations.isEmpty else {
      return try ([nil] + ablations).map { Hearing(call, by: try own(without: $0)) }
    }
    var engines: [any PlayoutUnderTest] = [try own(), try NetEQ()]
    for milliseconds in [20, 40, 80, 200] {
      engines.append(try FixedBuffer(milliseconds: milliseconds, packetFrames: Int64(frame * 48)))
    }
    var all = engines.filter { options.wants($0.name) }.map { Hearing(call, by: $0) }
    if options.wants(Hearing.wholeCallName) { all.append(try wholeCall()) }
    return all
  }

  private static let allNetworks = NetworkConditions.all.map(\.name).joined(separator: ",")

  private var ablations: [Ablation] {
    guard let without else { return [] }
    let names = without.split(separator: ",").map(String.init)
    return Ablation.each.filter { names == ["each"] || names.contains($0.name) }
  }

  // By turns of a synthesiser and of people.
  private func sentences(in folder: URL, python: String) throws -> [[Float]] {
    let spoken = try Conversation(in: folder).utterances.joined().map(\.samples)
    guard
      let recordings = RecordedSpeech(
        python: python,
        script: BenchOptions.folder.appendingPathComponent("g722.py").path
      )
    else {
      print("no recorded speech: asterisk-core-sounds-*-g722 or \(python) is missing")
      return spoken
    }
    let recorded = try recordings.sentences(in: folder)
    return recorded.indices.flatMap { [spoken[$0 % spoken.count], recorded[$0]] }
  }

  func run() throws {
    print(OpusLibrary.version)
    let work = try WorkFolder()
    defer { work.remove() }
    let python = URL(fileURLWithPath: options.python).path
    let scorer = unscored ? nil : options.scorer
    let seconds = options.seconds ?? 60
    let sentences = try sentences(in: work.url, python: python)
    var report = PlayoutReport(seconds: seconds, frame: frame, seeds: seedList)
    for network in try options.conditions(or: Self.allNetworks).compactMap(\.self) {
      var rows: [PlayoutRow] = []
      for seed in seedList {
        let setting = TestCall.Setting(
          network: network,
          seed: seed,
          seconds: seconds,
          packetFrames: Int(frame * 48),
          bitrate: bitrate,
          drift: drift,
          stalls: stalls.map { $0 == .program ? .stopped : .suspended },
          areStallsCommon: stalls == .bothCards,
          settlingSeconds: settling
        )
        let call = try TestCall(setting, saying: sentences)
        var scored: [(heard: [Float], scores: [SpeechScorer.Score])] = []
        for (index, hearing) in try hearings(of: call).enumerated() {
          if rows.count <= index {
            rows.append(PlayoutRow(network: network.name, engine: hearing.name))
          }
          rows[index].delays += hearing.settledDelays
          rows[index].concealedShares.append(hearing.concealedShare)
          rows[index].silentShares.append(hearing.silentShare)
          if let fixed = hearing.fixedShare { rows[index].fixedShares.append(fixed) }
          if let least = hearing.leastDelay { rows[index].leastDelays.append(least) }
          if let scorer {
            // Mechanisms that were not needed leave the same sound.
            let known = scored.first { $0.heard == hearing.heard }?.scores
            let scores = try known ?? scorer.scores(hearing.clips(of: call), in: work.url)
            scored.append((hearing.heard, scores))
            rows[index].add(scores)
          }
        }
      }
      for row in rows { print(row.line) }
      fflush(nil)
      report.rows += rows
    }
    if !ablations.isEmpty { return print(report.ablations) }
    if !report.advantages.isEmpty { print("sidetone beside NetEQ, sentence by sentence:") }
    for line in report.advantages { print("  " + line) }
    guard let folder = options.results(isWhole: !unscored) else { return }
    try report.write(to: folder)
  }
}
