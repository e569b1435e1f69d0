import ProgramRig
package import Foundation

/// Results of one receiver with the packets of one network.
package struct PlayoutRow: Codable {
  package var network: String
  package var engine: String
  /// Mouth-to-ear delay every 10 ms, in milliseconds; left out of the file, as there are too many.
  package var delays: [Double] = [] {
    didSet { summarise() }
  }
  /// Share of the output that was concealed, for each call.
  package var concealedShares: [Double] = []
  /// Share of each call during which faults of the sound card left the loudspeaker silent.
  package var silentShares: [Double] = []
  /// Share that a fixed delay of the same mean would have concealed, for each call; the wait for
  /// the loudspeaker's next request is not counted.
  package var fixedShares: [Double] = []
  /// Least mean delay in milliseconds, for each call, at which a receiver that knew all arrival
  /// times beforehand would have concealed no more.
  package var leastDelays: [Double] = []
  /// PESQ-WB (ITU-T P.862.2) of each sentence, 1 to 4.64.
  package var pesq: [Double] = []
  /// Intelligibility (STOI) of each sentence, 0 to 1.
  package var stoi: [Double] = []
  package private(set) var meanDelay = Double.nan
  package private(set) var delay95 = Double.nan

  private enum CodingKeys: CodingKey {
    case network, engine, concealedShares, silentShares, fixedShares, leastDelays, pesq, stoi
    case meanDelay, delay95
  }

  package init(network: String, engine: String) {
    self.network = network
    self.engine = engine
  }

  private mutating func summarise() {
    meanDelay = delays.isEmpty ? .nan : delays.reduce(0, +) / Double(delays.count)
    delay95 = Percentiles(delays)(0.95)
  }

  private var concealed: Double { 100 * Self.mean(concealedShares) }
  private var silent: Double { 100 * Self.mean(silentShares) }
  private var fixed: Double { 100 * Self.mean(fixedShares) }
  package var meanPESQ: Double { Self.mean(pesq) }
  private var meanSTOI: Double { Self.mean(stoi) }
  private var leastDelay: Double { Self.mean(leastDelays) }

  private static func mean(_ scores: [Double]) -> Double {
    scores.isEmpty ? .nan : scores.reduce(0, +) / Double(scores.count)
  }

  /// Adds the scores of sentences.
  package mutating func add(_ scores: [SpeechScorer.Score]) {
    pesq += scores.map(\.pesq)
    stoi += scores.map(\.stoi)
  }

  package var line: String {
    let names = [network, engine].map { $0.padding(toLength: 14, withPad: " ", startingAt: 0) }
    var parts = [
      String(
        format: "%6.1f ms mean %6.1f ms 95 %%  concealed %5.2f %%",
        meanDelay,
        delay95,
        concealed
      ),
      String(
        format: "PESQ %.2f (5 %%: %.2f) STOI %.3f of %d",
        meanPESQ,
        Percentiles(pesq)(0.05),
        meanSTOI,
        pesq.count
      ),
    ]
    if silent > 0 { parts.append(String(format: "silent %.2f %%", silent)) }
    if !fixedShares.isEmpty {
      parts.append(String(format: "concealed if fixed %.2f %%", fixed))
    }
    if !leastDelays.isEmpty {
      let ratio = meanDelay / leastDelay
      parts.append(String(format: "least possible %.1f ms, 1 : %.2f", leastDelay, ratio))
    }
    return names.joined() + parts.joined(separator: "  ")
  }

  /// Returns the mean difference in PESQ to another receiver of the same sentences, with its
  /// standard error and the difference in delay; nil unless both were scored, on at least two
  /// sentences.
  fileprivate func advantage(over other: PlayoutRow) -> String? {
    guard pesq.count == other.pesq.count, pesq.count > 1 else { return nil }
    let differences = zip(pesq, other.pesq).map { $0 - $1 }
    let mean = Self.mean(differences)
    let squares = differences.map { ($0 - mean) * ($0 - mean) }
    let error = (squares.reduce(0, +) / Double(pesq.count - 1) / Double(pesq.count)).squareRoot()
    return String(
      format: "%@: %+.3f PESQ, standard error %.3f of %d sentences, at %+.1f ms",
      network,
      mean,
      error,
      pesq.count,
      meanDelay - other.meanDelay
    )
  }

  /// Returns the changes against `other` in mean delay, mean PESQ of the same sentences, and
  /// concealed share.
  fileprivate func difference(from other: PlayoutRow) -> String {
    String(
      format: "%+.1f ms %+.3f %+.2f %%",
      meanDelay - other.meanDelay,
      meanPESQ - other.meanPESQ,
      concealed - other.concealed
    )
  }

  fileprivate var tableLine: String {
    String(
      format: "| %@ | %@ | %.1f | %.1f | %.2f | %@ | %.2f | %.2f | %.3f |",
      network,
      engine,
      meanDelay,
      delay95,
      concealed,
      fixedShares.isEmpty ? "–" : String(format: "%.2f", fixed),
      meanPESQ,
      Percentiles(pesq)(0.05),
      meanSTOI
    )
  }
}

/// Results of all networks and receivers, written as JSON.
package struct PlayoutReport: Codable {
  package var date = Date()
  package var machine = Machine()
  package var seconds: Int
  /// Packet duration in milliseconds.
  package var frame: Double
  package var seeds: [UInt64]
  package var rows: [PlayoutRow] = []

  package init(seconds: Int, frame: Double, seeds: [UInt64]) {
    self.seconds = seconds
    self.frame = frame
    self.seeds = seeds
  }

  private var networks: [String] {
    rows.map(\.network).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// Comparisons of our playout with NetEQ, sentence by sentence, one for each network on which
  /// both were scored.
  package var advantages: [String] {
    networks.compactMap { network in
      let rows = rows.filter { $0.network == network }
      guard let ours = rows.first(where: { $0.engine == "sidetone" }),
        let other = rows.first(where: { $0.engine == "NetEQ" })
      else { return nil }
      return ours.advantage(over: other)
    }
  }

  /// Table in Markdown of the change that leaving out each mechanism makes on each network.
  package var ablations: String {
    let names = rows.map(\.engine).reduce(into: [String]()) {
      if !$0.contains($1) { $0.append($1) }
    }
    let heading = "| without |" + networks.map { " \($0) |" }.joined()
    let rule = "|---|" + networks.map { _ in "---|" }.joined()
    let lines = names.dropFirst().map { name in
      "| \(name) |"
        + networks.map { network in
          let rows = rows.filter { $0.network == network }
          guard let whole = rows.first, let row = rows.first(where: { $0.engine == name }) else {
            return " |"
          }
          return " \(row.difference(from: whole)) |"
        }.joined()
    }
    return ([heading, rule] + lines).joined(separator: "\n")
  }

  /// The section of the results page.
  package var section: String {
    """
    ## Playout beside NetEQ and fixed buffers

    `bench playout`: calls of \(seconds) s in virtual time, packets of \(frame) ms, seeds \
    \(seeds.map { "\($0)" }.joined(separator: ", ")). Every receiver gets the same packets. "NetEQ"
    is a receiver of our own writing after its published design, with libopus's concealment. Our
    playout was tuned on seeds 1 to 18 of the same networks. PESQ is P.862.2 without
    Corrigendum 2, the mean of four beginnings, 4 ms apart.

    The row "whole call" is not comparable with the others. Both ends are ours at their defaults, so
    it sends other packets: 2.5 ms at 128 kbit/s while the link is clean, 5 ms at 96 kbit/s with up
    to two redundant copies, or 10 ms at 48 kbit/s with up to three; 256 kbit/s at most. Its losses
    are shorter, since the emulation counts them in packets. Its delay is that of the call, with 5
    ms for the sound cards.

    "If fixed" is what a fixed delay of the same mean would have concealed if the loudspeaker asked
    for each frame at the very moment: no real receiver with such a delay conceals less.

    | network | receiver | mean ms | 95 % ms | concealed % | if fixed % | PESQ-WB | 5 % | STOI |
    |---|---|---|---|---|---|---|---|---|
    \(rows.map(\.tableLine).joined(separator: "\n"))

    The same sentences received by sidetone instead of NetEQ:

    \(advantages.map { "- \($0)" }.joined(separator: "\n"))
    """
  }

  /// Writes `playout.json`.
  package func write(to folder: URL) throws {
    try ResultFile.write(self, named: "playout", to: folder)
  }
}
