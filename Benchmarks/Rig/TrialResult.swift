import Foundation
package import Simulation

/// What one program did on one network, once.
package struct TrialResult: Codable, Sendable {
  /// One way through the call.
  package struct Direction: Codable, Sendable {
    /// One chirp.
    package struct Chirp: Codable, Sendable {
      /// When it was said, in seconds since the call was placed.
      package var second: Double
      /// Mouth to ear; nil if it was not heard.
      package var delayMilliseconds: Double?
    }

    /// "A to B" or "B to A"; A places the call.
    package var name: String
    /// In the order in which they were said.
    package var chirps: [Chirp]
    /// PESQ-WB (P.862.2) of each sentence; empty if the scorer is missing.
    package var pesq: [Double]
  }

  /// The program with its settings.
  package var program: String
  /// The network's name; "direct" is the loopback interface.
  package var network: String
  /// Both directions.
  package var directions: [Direction]
  /// Processor seconds for each second of the call, of each end; none of a simulated call.
  package var processorShares: [Double]
  /// The most memory each end had resident, in megabytes; none of a simulated call.
  package var peakMegabytes: [Double]
  /// How often jackd was kept waiting for longer than a period while the call was measured.
  package var stalls: Int
  /// How long each wait was, the shorter ones included, in milliseconds; nil if that was not noted.
  package var stallMilliseconds: [Double]?
  /// By how much a thread with the voice thread's priority woke too late, each time, in
  /// milliseconds; nil if that was not noted.
  package var lateMilliseconds: [Double]?
}

extension TrialResult {
  /// The loopback interface as a network.
  static let direct = "direct"

  /// What a call was like during which jackd was kept waiting, and threads woke late, for so many
  /// milliseconds.
  init(
    program: String,
    network: String,
    directions: [Direction],
    processorShares: [Double],
    peakMegabytes: [Double],
    stalling: [Double],
    late: [Double]
  ) {
    self.init(
      program: program,
      network: network,
      directions: directions,
      processorShares: processorShares,
      peakMegabytes: peakMegabytes,
      stalls: JackServer.longOnes(among: stalling),
      stallMilliseconds: stalling,
      lateMilliseconds: late
    )
  }

  /// What a call in virtual time was like.
  init(simulated program: String, over network: String, _ directions: [Direction]) {
    self.init(
      program: program,
      network: network,
      directions: directions,
      processorShares: [],
      peakMegabytes: [],
      stalling: [],
      late: []
    )
  }

  /// Whether it is a call of that program on that network, or the loopback interface if nil.
  package func isCall(of program: String, over conditions: NetworkConditions?) -> Bool {
    self.program == program && network == conditions?.name ?? Self.direct
  }

  /// Whether the call was held in virtual time.
  var isSimulated: Bool { processorShares.isEmpty }

  /// Whether a voice came through both ways.
  package var isSetUp: Bool {
    directions.allSatisfy { $0.delays.count * 2 > $0.chirps.count }
  }

  /// Its place among the calls of one program: by delay, and those that were not set up last.
  var rank: Double { isSetUp && median.isFinite ? median : .infinity }

  /// The middle of all delays, both directions together.
  package var median: Double { Percentiles(directions.flatMap(\.delays)).median }
}

extension TrialResult.Direction {
  /// Of the chirps that were heard, in milliseconds.
  package var delays: [Double] { chirps.compactMap(\.delayMilliseconds) }

  /// How the delay moves in milliseconds per minute: the middle of the slopes between all pairs of
  /// chirps (Theil and Sen), which a few outliers do not move.
  package var drift: Double {
    let heard = chirps.compactMap { chirp in
      chirp.delayMilliseconds.map { (second: chirp.second, delay: $0) }
    }
    var slopes: [Double] = []
    for (index, first) in heard.enumerated() {
      for second in heard[(index + 1)...] {
        slopes.append(60 * (second.delay - first.delay) / (second.second - first.second))
      }
    }
    return Percentiles(slopes).median
  }
}
