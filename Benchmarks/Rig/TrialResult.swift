import ProgramRig
import Foundation

/// Results of one call by one program on one network.
package struct TrialResult: Codable, Sendable {
  /// One direction of the call.
  package struct Direction: Codable, Sendable {
    /// One chirp of the test sound.
    package struct Chirp: Codable, Sendable {
      /// Time at which it was played, in seconds since the call was placed.
      package var second: Double
      /// Mouth-to-ear delay in milliseconds; nil if the chirp was not found at the listener.
      package var delayMilliseconds: Double?
    }

    /// "A to B" or "B to A"; A places the call.
    package var name: String
    /// Chirps during the measurement, in the order in which they were played.
    package var chirps: [Chirp]
    /// Chirps played 1 to 3 s after the call can first be heard, before the measurement; few or
    /// none if the source side was speaking then.
    package var beginning: [Chirp]?
    /// PESQ-WB (ITU-T P.862.2) of each sentence; empty if the scorer is missing.
    package var pesq: [Double]
  }

  /// The program with its settings.
  package var program: String
  /// The network's name; "direct" is the loopback interface.
  package var network: String
  /// Both directions.
  package var directions: [Direction]
  /// Processor seconds for each second of the call, one value for each end.
  package var processorShares: [Double]
  /// Processor shares without the threads of libjack, which each program has that opens the rig's
  /// devices; nil in older results, and if an end has none.
  package var sharesWithoutJack: [Double]?
  /// Peak of resident memory of each end, in megabytes.
  package var peakMegabytes: [Double]
  /// Number of times that jackd was kept waiting for longer than a period during the measurement.
  package var stalls: Int
  /// Seconds that the host of a virtual machine took from all its processors together, for each
  /// second of the call; nil in older results, and if the kernel does not say.
  package var stolenShare: Double?
}

extension TrialResult {
  /// Name of the loopback interface as a network.
  static let direct = "direct"

  /// Time from the placing of a call until it can be heard, in seconds.
  static let heardAfter = 0.5

  /// True if the last chirp was played less than 41 s after the call was placed.
  var isShort: Bool { lateSeconds.lowerBound < Self.heardAfter + 20 }

  /// Time from 20 to 60 s after the call can first be heard, or from the middle of a short call on,
  /// in seconds since it was placed.
  private var lateSeconds: Range<Double> {
    let end = directions.flatMap(\.chirps).map(\.second).max() ?? 0
    return min(Self.heardAfter + 20, end / 2)..<Self.heardAfter + 60
  }

  /// Delays of the chirps of `beginning` that were heard, both directions together, in
  /// milliseconds.
  var firstDelays: [Double] { directions.flatMap(\.firstDelays) }

  /// Delays in milliseconds of the chirps that were heard in `lateSeconds`.
  ///
  /// The two directions differ in delay: those without a delay in `beginning` are left out, unless
  /// none has one.
  var lateDelays: [Double] {
    let late = lateSeconds
    let first = directions.filter { !$0.firstDelays.isEmpty }
    return (first.isEmpty ? directions : first).flatMap(\.chirps)
      .filter { late.contains($0.second) }.compactMap(\.delayMilliseconds)
  }

  /// True if more than half of the chirps were heard in both directions.
  package var isSetUp: Bool {
    directions.allSatisfy { $0.delays.count * 2 > $0.chirps.count }
  }

  /// Sort key among the calls of one program: the median delay, or infinity if the call was not set
  /// up.
  var rank: Double { isSetUp && median.isFinite ? median : .infinity }

  /// Median of all delays, both directions together, in milliseconds.
  package var median: Double { Percentiles(directions.flatMap(\.delays)).median }
}

extension TrialResult.Direction {
  /// Delays of the chirps of `beginning` that were heard, in milliseconds.
  package var firstDelays: [Double] { (beginning ?? []).compactMap(\.delayMilliseconds) }

  /// Delays of the chirps that were heard during the measurement, in milliseconds.
  package var delays: [Double] { chirps.compactMap(\.delayMilliseconds) }

  /// Drift of the delay in milliseconds per minute, by the Theil-Sen estimator.
  ///
  /// It is the median of the slopes between all pairs of chirps, which a few outliers do not move.
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
