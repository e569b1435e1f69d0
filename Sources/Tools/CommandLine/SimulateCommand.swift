import ALSAAudio
import ArgumentParser
import Foundation
import Localization
import Simulation
import VoiceEngine

struct SimulateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Make a whole call in virtual time, without a device.",
    usage: "sidetone simulate [<options>]",
    discussion: HelpScreen.discussion(
      of: "simulate",
      """
      The voice path is the one that calls use; clocks, network and headsets are scripted. The \
      same arguments give the same call, sample for sample.
      """
    ),
    shouldDisplay: !HelpScreen.isShort
  )

  @Option(
    help: ArgumentHelp(
      """
      The network: \(NetworkConditions.all.map(\.name).joined(separator: ", ")). \
      Default: \(usualNetwork).
      """
    )
  )
  var network: String?

  @Option(
    help: ArgumentHelp(
      """
      A recorded network instead of --network: RTP captured by tcpdump or Wireshark, or text with \
      a line per packet: departure and arrival in ms, or the departure and the word lost.
      """,
      valueName: "path",
      visibility: .rare
    )
  )
  var trace: String?

  @Option(
    help: ArgumentHelp(
      "Of a capture with several streams the one with this number, or this SSRC (0x...).",
      valueName: "number",
      visibility: .rare
    )
  )
  var stream: String?

  @Option(
    help: ArgumentHelp(
      "How often timestamps of dynamic payload types in a capture count a second.",
      valueName: "hertz",
      visibility: .rare
    )
  )
  var clock: Int?

  @Option(help: ArgumentHelp("What all random choices follow from.", valueName: "n"))
  var seed: UInt64 = 1

  @Option(help: ArgumentHelp("How long the call is.", valueName: "seconds"))
  var duration = 60.0

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How much too fast the far side's headset runs, -1000 to 1000.",
      valueName: "ppm",
      visibility: .rare
    )
  )
  var drift = 0

  @Option(
    name: .customLong("fault"),
    help: ArgumentHelp(
      """
      A fault of the receiving headset, stopped, suspended or unplugged, and its time: \
      stopped@10:500 is 500 ms from second 10.
      """,
      valueName: "kind@second[:ms]",
      visibility: .rare
    )
  )
  var faults: [String] = []

  @Option(
    help: ArgumentHelp(
      "What the far side says, a WAV file; else espeak-ng speaks.",
      valueName: "path"
    )
  )
  var speech: String?

  @Option(help: ArgumentHelp("Draw delay, loss and concealment there, as SVG.", valueName: "path"))
  var plot: String?

  @Option(help: ArgumentHelp("Record the received sound to a WAV file.", valueName: "path"))
  var wav: String?

  @Option(
    help: ArgumentHelp(
      "Python with the packages pesq and numpy, for the score. Default: python3, if it has them.",
      valueName: "path",
      visibility: .rare
    )
  )
  var python: String?

  @Flag(
    help: ArgumentHelp("The hearing side says nothing, which takes less time.", visibility: .rare)
  )
  var oneWay = false

  @Flag(help: "Encrypt the call, with keys that follow from the seed.")
  var encrypted = false

  @Flag(help: "Print the result as JSON.")
  var json = false

  @OptionGroup var voiceOptions: VoiceOptions

  func validate() throws {
    guard duration.isFinite, (1...360_000).contains(duration) else {
      throw ValidationError(localized: "--duration is between 1 and 360000")
    }
    guard wav == nil || duration <= 3_600 else {
      throw ValidationError(localized: "--wav keeps an hour at most")
    }
    guard (-1_000...1_000).contains(drift) else {
      throw ValidationError(localized: "--drift is between -1000 and 1000")
    }
    guard clock.map({ (1_000...1_000_000).contains($0) }) ?? true else {
      throw ValidationError("--clock is between 1000 and 1000000")
    }
    guard trace != nil || stream == nil && clock == nil else {
      throw ValidationError("--stream and --clock are of --trace")
    }
    guard trace == nil || network == nil else {
      throw ValidationError("--trace takes the place of --network")
    }
    _ = try conditions
    for fault in faults where Self.fault(fault) == nil {
      throw ValidationError(localized: "--fault \(fault) is not like stopped@10:500")
    }
  }

  func run() throws {
    do {
      try simulate()
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure(reason: "\(error)")
    }
  }

  private func simulate() throws {
    try OutputPaths.check(
      [("--plot", plot), ("--wav", wav)],
      against: [("--trace", trace), ("--speech", speech)]
    )
    var far = SimulatedCall.Party()
    far.card.captureDrift = drift
    far.card.playbackDrift = drift
    far.card.isRecorded = false
    far.card.sound = try speech.map { try Speech.load($0) } ?? Speech.spoken()
    var near = SimulatedCall.Party()
    let scorer = try scorer()
    near.card.isRecorded = wav != nil || scorer != nil
    near.maySend = !oneWay
    near.card.faults = faults.compactMap { Self.fault($0) }.sorted { $0.at < $1.at }

    var configuration = voiceOptions.stream
    configuration.isAuthenticated = encrypted
    configuration.usesConstantBitRate = encrypted && !voiceOptions.vbr
    let taken = try trace.flatMap {
      try CaptureReading.stream(at: $0, named: self.stream, clockRate: clock)
    }
    let call = try SimulatedCall(
      near: near,
      far: far,
      towardsNear: try path(taken, seed: seed),
      towardsFar: try path(taken, seed: ~seed),
      configuration: configuration,
      seed: seed,
      threads: .two
    )
    var report = SimulationReport(
      network: try trace ?? conditions.name,
      stream: taken?.summary,
      seed: seed
    )
    call.run(seconds: duration) { report.add($0) }
    report.seconds = duration
    report.traffic = call.traffic
    if let scorer {
      do {
        report.quality = try PerceivedQuality(
          of: call.heard,
          said: far.card.sound,
          delay: report.medianDelay,
          drift: drift,
          python: scorer
        )
        if report.quality == nil, python != nil {
          Terminal.printError("PESQ has no score: the call is too short, or nothing is said")
        }
      } catch  where python == nil {
        // Not requested.
      }
    }
    print(json ? report.json : report.text)
    if let plot { try write(Data(report.svg.utf8), to: plot) }
    if let wav {
      let heard = call.heard
      let header = WaveFile.header(rateHertz: 48_000, sampleCount: heard.count)
      try write(Data(header + WaveFile.encode(heard)), to: wav)
    }
  }

  // The Python to score with; one that was named has to have the packages.
  private func scorer() throws -> String? {
    // A loudspeaker that stands still shifts the received signal against the sent one.
    guard duration <= Self.longestScored, !faults.contains(where: { $0.hasPrefix("suspended") })
    else {
      guard python == nil else {
        throw CommandFailure("scored are calls of up to 20 minutes in which nothing is suspended")
      }
      return nil
    }
    guard PerceivedQuality.isAvailable(to: python ?? "python3") else {
      guard let python else { return nil }
      throw CommandFailure("\"\(python)\" has no pesq: pip install pesq numpy")
    }
    return python ?? "python3"
  }

  /// Longest call, in seconds, whose received signal is kept for the score.
  private static let longestScored = 1_200.0

  private static let usualNetwork = "wifi"

  private var conditions: NetworkConditions {
    get throws {
      let network = network ?? Self.usualNetwork
      guard let found = NetworkConditions.all.first(where: { $0.name == network }) else {
        let known = NetworkConditions.all.map(\.name).joined(separator: ", ")
        throw ValidationError(localized: "no network is called \(network); there are \(known)")
      }
      return found
    }
  }

  private func path(_ taken: CapturedStream?, seed: UInt64) throws -> any PacketPath {
    guard let trace else { return EmulatedNetwork(try conditions, seed: seed) }
    if let taken {
      // One that was chosen has two packets.
      return try taken.trace()
    }
    // Any reason ends in the same message.
    guard let text = try? String(contentsOfFile: trace, encoding: .utf8) else {
      throw CommandFailure("cannot read \"\(trace)\"")
    }
    do throws(NetworkTrace.ParseError) {
      return try NetworkTrace(parsing: text)
    } catch {
      switch error {
      case .unreadable(let line):
        throw CommandFailure(
          "\"\(trace)\", line \(line): neither two times in ms nor a time and lost"
        )
      case .empty:
        throw CommandFailure("\"\(trace)\" tells of no packet that arrived")
      }
    }
  }

  private func write(_ data: Data, to path: String) throws {
    do {
      try data.write(to: URL(fileURLWithPath: path))
    } catch {
      throw CommandFailure("cannot write \"\(path)\": \(error.localizedDescription)")
    }
  }

  private static func fault(_ text: String) -> DeviceFault? {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let times = parts[1].split(separator: ":", omittingEmptySubsequences: false)
      .map { Double($0) ?? .nan }
    guard times.allSatisfy({ (0...1e6).contains($0) }) else { return nil }
    switch (parts[0], times.count) {
    case ("stopped", 2): return DeviceFault(.stopped, second: times[0], milliseconds: times[1])
    case ("suspended", 2): return DeviceFault(.suspended, second: times[0], milliseconds: times[1])
    case ("unplugged", 1): return DeviceFault(.unplugged, second: times[0])
    default: return nil
    }
  }
}
