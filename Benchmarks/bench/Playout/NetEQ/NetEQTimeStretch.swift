/// NetEQ's accelerate and pre-emptive expand, which remove or insert one pitch period in 30 ms of
/// sound at 48 kHz.
struct NetEQTimeStretch {
  static let requiredFrames = 1_440
  private static let decimation = 12
  static let middle = 720
  private var noisePower: Float = 1e-4

  /// Removes one period from the first 30 ms of `sound`, or as many as fit in 15 ms if `isFast`,
  /// and returns the number of frames removed.
  mutating func accelerate(_ sound: inout [Float], isFast: Bool) -> Int {
    guard let found = period(in: sound, isFast: isFast) else { return 0 }
    let period = isFast ? Self.middle / found * found : found
    for index in 0..<period {
      let weight = Float(index) / Float(period)
      let place = Self.middle - period + index
      sound[place] += (sound[Self.middle + index] - sound[place]) * weight
    }
    sound.removeSubrange(Self.middle..<Self.middle + period)
    return period
  }

  /// Inserts one period, and returns the number of frames added.
  mutating func expand(_ sound: inout [Float]) -> Int {
    guard let period = period(in: sound, isFast: false) else { return 0 }
    let inserted = (0..<period).map { index in
      let weight = Float(index) / Float(period)
      let next = sound[Self.middle + index]
      return next + (sound[Self.middle - period + index] - next) * weight
    }
    sound.insert(contentsOf: inserted, at: Self.middle)
    return period
  }

  private mutating func period(in sound: [Float], isFast: Bool) -> Int? {
    guard sound.count >= Self.requiredFrames else { return nil }
    let power =
      sound[0..<Self.requiredFrames].reduce(0) { $0 + $1 * $1 } / Float(Self.requiredFrames)
    noisePower = min(max(power, 1e-9), noisePower * 1.01)
    let coarse = stride(from: 0, to: Self.requiredFrames, by: Self.decimation).map { begin in
      sound[begin..<begin + Self.decimation].reduce(0, +) / Float(Self.decimation)
    }
    // 60 of 120 samples at 4 kHz lie before the middle.
    var best = (lag: 10, product: -Float.infinity)
    for lag in 10...60 {
      var product: Float = 0
      for index in 0..<50 { product += coarse[60 + index] * coarse[60 + index - lag] }
      if product > best.product { best = (lag, product) }
    }
    var refined = (lag: best.lag * Self.decimation, likeness: -Float.infinity)
    for lag in max(120, refined.lag - 12)...min(Self.middle, refined.lag + 12) {
      let likeness = Self.likeness(of: sound, lag: lag)
      if likeness > refined.likeness { refined = (lag, likeness) }
    }
    let isPassive = power < 8 * noisePower
    return isPassive || refined.likeness > (isFast ? 0.5 : 0.9) ? refined.lag : nil
  }

  private static func likeness(of sound: [Float], lag: Int) -> Float {
    var product: Float = 0
    var before: Float = 1e-12
    var after: Float = 1e-12
    for index in 0..<lag {
      let early = sound[middle - lag + index]
      let late = sound[middle + index]
      product += early * late
      before += early * early
      after += late * late
    }
    return product / (before * after).squareRoot()
  }
}
