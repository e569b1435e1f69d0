import MediaCore

/// Which channel of a microphone with several has the voice.
///
/// The mean of all would be quieter by the empty inputs of a many-channel interface, and nothing at
/// all where one channel of a built-in microphone is the other's opposite. So it is one channel:
/// the first, unless another is louder by 6 dB.
struct VoiceChannel: ~Copyable {
  /// How much louder another channel must be, in amplitude.
  private static var lead: Float { @_noAllocation @_noLocks get { 2 } }
  /// A channel 60 dB below the loudest is silent.
  private static var leastLevel: Float { @_noAllocation @_noLocks get { 1e-3 } }
  /// A level counts half after a second.
  private static var memoryNanoseconds: Int64 { @_noAllocation @_noLocks get { 1_000_000_000 } }

  /// The channel to listen to.
  private(set) var chosen = 0

  private var levels: SampleBuffer
  private var sinceForgetting: Int64 = 0

  /// The first of `count` channels.
  init(of count: Int) {
    levels = SampleBuffer(repeating: 0, count: max(1, count))
  }

  /// Notes a sample of a channel.
  @_noAllocation @_noLocks
  mutating func note(_ sample: Float, on channel: Int) {
    let level = abs(sample)
    if level > levels[channel] { levels[channel] = level }
  }

  /// Chooses anew, once the levels of `nanoseconds` of sound have been noted.
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
