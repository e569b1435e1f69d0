package import MediaCore

/// Comfort noise with the level and the colour of a voice's background (a level and a spectrum by
/// linear prediction, as in RFC 3389).
///
/// Mono at 48 kHz, learned from the quietest moments of the last seconds.
package struct BackgroundNoise: ~Copyable {
  /// Taps of the predictor: enough for a spectrum that a coder has cut off.
  private static var order: Int { @_noAllocation @_noLocks get { 24 } }
  /// Length of a block, 20 ms at 48 kHz, which gives one power and one spectrum.
  private static var blockFrames: FrameCount { @_noAllocation @_noLocks get { 960 } }
  /// Length of a window in blocks; with two windows, the quietest block counts for 1.5 to 3 s.
  private static var windowBlocks: Int { @_noAllocation @_noLocks get { 75 } }
  /// Interval, in quiet blocks, at which the spectrum of a known noise is updated.
  private static var blocksBetweenSpectra: Int { @_noAllocation @_noLocks get { 4 } }
  /// Largest ratio between the powers of two blocks of a steady noise.
  private static var spread: Float { @_noAllocation @_noLocks get { 2.5 } }
  /// Loudest background, -40 dBFS; sound that never falls below it is music or a voice.
  private static var loudest: Float { @_noAllocation @_noLocks get { 1e-4 } }
  /// Factor on the power, -1.5 dB, so that chance does not make the noise louder than the original.
  private static var reduction: Float { @_noAllocation @_noLocks get { 0.7 } }

  private var block = SampleBuffer(repeating: 0, count: 960)
  private var blockCount: FrameCount = 0
  private var window = SampleBuffer(repeating: 0, count: 960)

  /// Least power in the running window, and in the one before it.
  private var lowest = (now: Float.infinity, before: Float.infinity)
  private var blocks = 0
  private var quietBlocks = 0
  /// Mean autocorrelation of the quiet blocks by lag; that at lag 0 is their power.
  private var correlation = FixedArray<Float>(repeating: 0, count: 25)
  private var isChanged = false

  private var predictor = FixedArray<Float>(repeating: 0, count: 25)
  private var scratch = FixedArray<Float>(repeating: 0, count: 25)
  private var gain: Float = 0
  private var history = FixedArray<Float>(repeating: 0, count: 24)
  private var place = 0
  private var random: UInt32 = 0x2545_F491

  /// Creates a generator that is silent until it has learned a noise.
  package init() {
    // A parabola (Welch's window), with a mean square of 1.
    for index in 0..<Self.blockFrames {
      let phase = (Float(index) + 0.5) / Float(Self.blockFrames)
      window[index] = 5.477_226 * phase * (1 - phase)
    }
  }

  /// Forgets the learned noise, as when another source takes over.
  @_noAllocation @_noLocks
  package mutating func restart() {
    blockCount = 0
    lowest = (.infinity, .infinity)
    correlation.fill(0, count: correlation.count)
    isChanged = true
  }

  /// Notes that the next sound does not follow the last one.
  @_noAllocation @_noLocks
  package mutating func noteGap() { blockCount = 0 }

  /// Learns from the first `count` frames of `sound`, which follow those learned before.
  @_noAllocation @_noLocks
  package mutating func learn(_ sound: borrowing SampleBuffer, count: FrameCount) {
    var taken = 0
    while taken < count {
      let frames = min(count - taken, Self.blockFrames - blockCount)
      block.copy(from: sound, at: taken, to: blockCount, count: frames)
      taken += frames
      blockCount += frames
      if blockCount == Self.blockFrames {
        learnBlock()
        blockCount = 0
      }
    }
  }

  @_noAllocation @_noLocks
  private mutating func learnBlock() {
    for index in 0..<Self.blockFrames { block[index] *= window[index] }
    let power = correlate(lag: 0)
    lowest.now = min(lowest.now, power)
    let floor = min(lowest.now, lowest.before)
    blocks += 1
    if blocks >= Self.windowBlocks { (lowest, blocks) = ((.infinity, lowest.now), 0) }
    guard power <= floor * Self.spread else { return }
    let known = correlation[0]
    let isSame = known >= floor && known <= floor * Self.spread
    // The spectrum of a noise that is known takes its time.
    quietBlocks += 1
    guard !isSame || quietBlocks >= Self.blocksBetweenSpectra else { return }
    quietBlocks = 0
    let share: Float = isSame ? 0.3 : 1
    correlation[0] += (power - known) * share
    for lag in 1...Self.order {
      correlation[lag] += (correlate(lag: lag) - correlation[lag]) * share
    }
    isChanged = true
  }

  @_noAllocation @_noLocks
  private func correlate(lag: Int) -> Float {
    precondition(lag >= 0 && lag <= Self.order, "lag out of bounds")
    let first = unsafe block.address
    let second = unsafe first + lag
    var lanes = SIMD8<Float>(repeating: 0)
    var index = 0
    let count = Self.blockFrames - lag
    while index + 8 <= count {
      for lane in 0..<8 { unsafe lanes[lane] += first[index + lane] * second[index + lane] }
      index += 8
    }
    var sum = lanes.sum()
    while index < count {
      unsafe sum += first[index] * second[index]
      index += 1
    }
    return sum / Float(Self.blockFrames)
  }

  /// Writes `count` frames of noise to `sound`; silence while no background noise is known.
  @_noAllocation @_noLocks
  package mutating func make(into sound: inout SampleBuffer, count: FrameCount) {
    if isChanged { predict() }
    guard gain > 0 else {
      sound.fill(0, count: count)
      return
    }
    for index in 0..<count {
      var sample = gain * uniform()
      var tap = 1
      while tap <= Self.order {
        let past = place - tap
        sample -= predictor[tap] * history[past < 0 ? past + Self.order : past]
        tap += 1
      }
      history[place] = sample
      place = place + 1 < Self.order ? place + 1 : 0
      sound[index] = sample
    }
  }

  // Variance 1; a xorshift generator is random enough for ears.
  @_noAllocation @_noLocks
  private mutating func uniform() -> Float {
    random ^= random &<< 13
    random ^= random &>> 17
    random ^= random &<< 5
    return (Float(random &>> 8) * (2 / 16_777_216) - 1) * 1.732_051
  }

  // Levinson and Durbin's recursion. A little white noise keeps the filter stable.
  @_noAllocation @_noLocks
  private mutating func predict() {
    isChanged = false
    gain = 0
    let power = correlation[0]
    guard power > 1e-12 else { return }
    predictor.fill(0, count: predictor.count)
    predictor[0] = 1
    var rest = power * 1.000_03
    for step in 1...Self.order {
      var sum = correlation[step]
      for tap in 1..<step { sum += predictor[tap] * correlation[step - tap] }
      let reflection = -sum / rest
      guard abs(reflection) < 1 else { break }
      scratch.copy(from: predictor, count: predictor.count)
      for tap in 1..<step { predictor[tap] = scratch[tap] + reflection * scratch[step - tap] }
      predictor[step] = reflection
      rest *= 1 - reflection * reflection
    }
    let level = min(power, Self.loudest) / power
    gain = (rest * level * Self.reduction).root
  }
}
