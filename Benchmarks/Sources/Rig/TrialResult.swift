import Foundation

/// What one program did on one network, once.
public struct TrialResult: Codable, Sendable {
  /// One way through the call.
  public struct Direction: Codable, Sendable {
    /// One chirp.
    public struct Chirp: Codable, Sendable {
      /// When it was said, in seconds since the call was placed.
      public var second: Double
      /// Mouth to ear; nil if it was not heard.
      public var delayMilliseconds: Double?
    }

    /// "A to B" or "B to A"; A places the call.
    public var name: String
    /// In the order in which they were said.
    public var chirps: [Chirp]
    /// PESQ-WB (P.862.2) of each sentence; empty if the scorer is missing.
    public var pesq: [Double]
  }

  /// The program with its settings.
  public var program: String
  /// The network's name; "direct" is the loopback interface.
  public var network: String
  /// Both directions.
  public var directions: [Direction]
  /// Processor seconds for each second of the call, of each end.
  public var processorShares: [Double]
  /// The most memory each end had resident, in megabytes.
  public var peakMegabytes: [Double]
  /// How often jackd was kept waiting for longer than a period while the call was measured.
  public var stalls: Int
}

extension TrialResult {
  /// Whether a voice came through both ways.
  public var isSetUp: Bool {
    directions.allSatisfy { $0.delays.count * 2 > $0.chirps.count }
  }

  /// Its place among the calls of one program: by delay, and those that were not set up last.
  var rank: Double { isSetUp && median.isFinite ? median : .infinity }

  /// The middle of all delays, both directions together.
  public var median: Double { Percentiles(directions.flatMap(\.delays)).median }
}

extension TrialResult.Direction {
  /// Of the chirps that were heard, in milliseconds.
  public var delays: [Double] { chirps.compactMap(\.delayMilliseconds) }

  /// How the delay moves in milliseconds per minute: the middle of the slopes between all pairs of chirps
  /// (Theil and Sen), which a few outliers do not move.
  public var drift: Double {
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
