import MediaCore

/// Choice of the channel that carries the voice, for a microphone with several channels.
///
/// The mean of all would be quieter by the empty inputs of a many-channel interface, and silent
/// where one channel of a built-in microphone is the other's opposite. So it is one channel: the
/// first, unless another is louder by 6 dB.
struct VoiceChannel: ~Copyable {
  /// Factor by which another channel must be louder, in amplitude: 6 dB.
  private static var lead: Float { @_noAllocation @_noLocks get { 2 } }
  /// Least amplitude of sound, 60 dB below full scale: below it no other channel is chosen.
  private static var leastLevel: Float { @_noAllocation @_noLocks get { 1e-3 } }
  /// Interval at which levels are halved, in nanoseconds.
  private static var memoryNanoseconds: Int64 { @_noAllocation @_noLocks get { 1_000_000_000 } }

  /// Index of the channel to use.
  private(set) var chosen = 0

  private var levels: SampleBuffer
  private var sinceForgetting: Int64 = 0

  /// Starts with the first of `count` channels.
  init(of count: Int) {
    levels = SampleBuffer(repeating: 0, count: max(1, count))
  }

  /// Notes a sample of a channel.
  @_noAllocation @_noLocks
  mutating func note(_ sample: Float, on channel: Int) {
    let level = abs(sample)
    if level > levels[channel] { levels[channel] = level }
  }

  /// Reselects the channel after `nanoseconds` of levels.
  @_noAllocation @_noLocks
  mutating func choose(after nanoseconds: Int64) {
    var loudest = chosen
    for channel in 0..<levels.count where levels[channel] > levels[loudest] { loudest = channel }
    let isHeard = levels[loudest] > Self.leastLevel
    if isHeard, levels[loudest] > Self.lead * levels[chosen] { chosen = loudest }
    sinceForgetting += nanoseconds
    guard sinceForgetting >= Self.memoryNanoseconds else { return }
    sinceForgetting = 0
    for channel in 0..<levels.count { levels[channel] /= 2 }
  }
}
