package import MediaCore

/// The least delay with which a receiver could have played a call, had it known beforehand when
/// each packet would come, and concealed no more than another receiver did.
///
/// It may choose its delay anew for each sentence, in the pause before it. Neither the wait for the
/// loudspeaker's next request nor the time that a change takes is counted, so a receiver can have
/// less only where the path changes within a sentence.
package struct HindsightBound {
  /// Number of frames in a unit, 2.5 ms at 48 kHz.
  private static let unitFrames = 120

  /// Time from speech to first arrival of each unit of the call, in milliseconds.
  ///
  /// Infinite for units that never arrived.
  private var ages: [Double]

  /// A call of `seconds`, of which nothing has arrived.
  package init(seconds: Int) {
    ages = [Double](repeating: .infinity, count: seconds * 48_000 / Self.unitFrames)
  }

  /// Notes that `frames` frames arrived at `arrival`, of which the first was spoken at `mouth`.
  package mutating func note(
    from first: Int64,
    frames: Int64,
    mouth: MonotonicInstant,
    arrival: MonotonicInstant
  ) {
    for frame in stride(from: first, to: first + frames, by: Self.unitFrames) {
      let unit = Int(frame) / Self.unitFrames
      guard ages.indices.contains(unit) else { continue }
      let age = Double(arrival.nanoseconds(since: mouth)) / 1e6 - Double(frame - first) / 48
      ages[unit] = min(ages[unit], age)
    }
  }

  /// Least mean delay, in milliseconds, with at most `concealedShare` of the sound missing.
  ///
  /// Sentences begin at the frames `starts`, of which the last only ends the one before; nil if
  /// there are none. All that never arrived may be missing in any case.
  package func delay(of starts: [Int], concealedShare: Double) -> Double? {
    let sentences = zip(starts, starts.dropFirst()).map { start, end in
      Sentence(ages[start / Self.unitFrames..<end / Self.unitFrames])
    }
    let units = sentences.reduce(0) { $0 + $1.units }
    guard units > 0 else { return nil }
    let allowed = max(
      Int(concealedShare * Double(units)),
      sentences.reduce(0) { $0 + $1.lost }
    )
    // What a missing unit costs, in milliseconds over one unit: dear enough, and no dearer.
    var (cheap, dear) = (0.0, 1e9)
    for _ in 0..<60 {
      let price = (cheap + dear) / 2
      let missing = sentences.reduce(0) { $0 + $1.choice(at: price).missing }
      if missing > allowed { cheap = price } else { dear = price }
    }
    let sum = sentences.reduce(0) { $0 + $1.choice(at: dear).delay * Double($1.units) }
    return sum / Double(units)
  }

  /// Share of the sound between the first and the last of `starts` that a fixed delay of `delay`
  /// milliseconds would have concealed.
  ///
  /// Nil if there is no sound between them.
  package func missingShare(of starts: [Int], at delay: Double) -> Double? {
    guard let first = starts.first, let last = starts.last else { return nil }
    let all = ages[first / Self.unitFrames..<last / Self.unitFrames]
    return all.isEmpty ? nil : Double(all.count { $0 > delay }) / Double(all.count)
  }

  private struct Sentence {
    let units: Int
    /// Number of units that never arrived.
    let lost: Int
    /// Times from speech to arrival of all other units, in milliseconds, the longest first.
    private let ages: [Double]

    init(_ all: ArraySlice<Double>) {
      units = all.count
      ages = all.filter(\.isFinite).sorted(by: >)
      lost = units - ages.count
    }

    func choice(at price: Double) -> (delay: Double, missing: Int) {
      guard let latest = ages.first else { return (0, lost) }
      var best = (delay: latest, missing: 0)
      for (late, delay) in ages.enumerated()
      where (delay - best.delay) * Double(units) + price * Double(late - best.missing) < 0 {
        best = (delay, late)
      }
      return (best.delay, best.missing + lost)
    }
  }
}
