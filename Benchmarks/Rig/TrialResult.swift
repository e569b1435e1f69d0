import ProgramRig
import Foundation

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
    /// Those of seconds 1 to 3, before the others; few or none, as the other side may be talking.
    package var beginning: [Chirp]?
    /// PESQ-WB (P.862.2) of each sentence; empty if the scorer is missing.
    package var pesq: [Double]
  }

  /// The program with its settings.
  package var program: String
  /// The network's name; "direct" is the loopback interface.
  package var network: String
  /// Both directions.
  package var directions: [Direction]
  /// Processor seconds for each second of the call, of each end.
  package var processorShares: [Double]
  /// The same without the threads of libjack, which each program has that opens the rig's devices;
  /// nil in older results, and if an end has none.
  package var sharesWithoutJack: [Double]?
  /// The most memory each end had resident, in megabytes.
  package var peakMegabytes: [Double]
  /// How often jackd was kept waiting for longer than a period while the call was measured.
  package var stalls: Int
  /// Seconds that the host of a virtual machine took from its processors, all together, for each
  /// second of the call; nil in older results, and if the kernel does not say.
  package var stolenShare: Double?
}

extension TrialResult {
  /// The loopback interface as a network.
  static let direct = "direct"

  /// How long after it was placed a call is heard, in seconds.
  static let heardAfter = 0.5

  /// Whether it ended before second 40.
  var isShort: Bool { lateSeconds.lowerBound < Self.heardAfter + 20 }

  /// Seconds 20 to 60 of the call, or its second half if it is short; since it was placed.
  private var lateSeconds: Range<Double> {
    let end = directions.flatMap(\.chirps).map(\.second).max() ?? 0
    return min(Self.heardAfter + 20, end / 2)..<Self.heardAfter + 60
  }

  /// Of the chirps of seconds 1 to 3 that were heard, both directions together, in milliseconds.
  var firstDelays: [Double] { directions.flatMap(\.firstDelays) }

  /// Of the chirps of seconds 20 to 60 that were heard, or of the second half of a short call.
  ///
  /// Directions differ: those that did not have the chirps in seconds 1 to 3 are left out, unless
  /// none had them.
  var lateDelays: [Double] {
    let late = lateSeconds
    let first = directions.filter { !$0.firstDelays.isEmpty }
    return (first.isEmpty ? directions : first).flatMap(\.chirps)
      .filter { late.contains($0.second) }.compactMap(\.delayMilliseconds)
  }

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
  /// Of the chirps of seconds 1 to 3 that were heard, in milliseconds.
  package var firstDelays: [Double] { (beginning ?? []).compactMap(\.delayMilliseconds) }

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
