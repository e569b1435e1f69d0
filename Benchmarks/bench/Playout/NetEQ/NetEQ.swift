import MediaCore

/// A receiver after the design of WebRTC's NetEQ, as a yardstick: decisions every 10 ms, target
/// delays in steps of 20 ms, time-stretching by one pitch period at a time.
///
/// Concealment is libopus's own, which sounds better than NetEQ's.
final class NetEQ: PlayoutUnderTest {
  private struct Stored {
    let packet: ArrivedPacket
    let isRedundancy: Bool
  }

  let name = "NetEQ"
  let pullFrames = 480
  private(set) var concealedFrames: Int64 = 0
  private var decoder: PayloadPlayer
  private var delays = NetEQDelayManager()
  private var stretch = NetEQTimeStretch()
  private var stored: [Int64: Stored] = [:]
  private var sound: [Float] = []
  private var played: [Float] = []
  private var expected: Int64?
  private var frames: Int64 = 960
  private var now = 0.0
  private var ticksSinceStretch = 5
  private var concealedInRow: Int64 = 0
  private var isConcealing = false

  private static let perMillisecond = 48.0
  private static let patienceMilliseconds = 50.0
  /// Length of concealment, in frames at 48 kHz, after which it has faded below half.
  private static let fadedFrames: Int64 = 115 * 48
  private static let obsoleteFrames: Int64 = 5 * 48_000

  init() throws { decoder = try PayloadPlayer() }

  var position: (frame: Int64, queued: Int)? {
    guard let expected, !isConcealing else { return nil }
    return (expected, sound.count)
  }

  func receive(_ packet: ArrivedPacket) {
    frames = packet.frames
    delays.update(media: Double(packet.frame) / Self.perMillisecond, now: now)
    guard packet.frame >= expected ?? packet.frame else { return }
    stored[packet.frame] = Stored(packet: packet, isRedundancy: false)
    let before = packet.frame - packet.frames
    if packet.hasRedundancy, stored[before] == nil, before >= expected ?? packet.frame {
      stored[before] = Stored(packet: packet, isRedundancy: true)
    }
  }

  func render(into output: inout [Float], at instant: MonotonicInstant) {
    now = Double(instant.nanoseconds) / 1e6
    ticksSinceStretch += 1
    var steps = 0
    if sound.count >= pullFrames, !stored.isEmpty { stretchIfDue() }
    while sound.count < pullFrames, steps < 64 {
      steps += 1
      step()
    }
    output.append(contentsOf: sound.prefix(pullFrames))
    played = Array((played + sound.prefix(pullFrames)).suffix(NetEQTimeStretch.requiredFrames))
    sound.removeFirst(min(pullFrames, sound.count))
  }

  /// Buffered duration in milliseconds, gaps included.
  private var depth: Double {
    guard let first = stored.keys.min(), let last = stored.keys.max() else {
      return Double(sound.count) / Self.perMillisecond
    }
    return (Double(last - first + frames) + Double(sound.count)) / Self.perMillisecond
  }

  private func step() {
    guard let next = stored.keys.min() else { return conceal() }
    guard let expected else { return play(next) }
    if next - expected > Self.obsoleteFrames { return play(next) }
    if next == expected {
      let isWaiting =
        isConcealing && concealedInRow >= Self.fadedFrames
        && depth < delays.targetMilliseconds / 2
      return isWaiting ? conceal() : play(next)
    }
    // A later one: when its time has come, or when too much waits.
    let isDue = concealedInRow >= next - expected
    let isTooMuch = depth > delays.targetMilliseconds + Self.patienceMilliseconds
    if isDue || isTooMuch { play(next) } else { conceal() }
  }

  private func play(_ frame: Int64) {
    guard let entry = stored.removeValue(forKey: frame) else { return }
    sound +=
      entry.isRedundancy ? decoder.recover(entry.packet) : decoder.decode(entry.packet)
    expected = frame + entry.packet.frames
    isConcealing = false
    concealedInRow = 0
    stretchIfDue()
  }

  private func conceal() {
    if expected == nil {
      sound += [Float](repeating: 0, count: pullFrames)
      return
    }
    sound += decoder.conceal(pullFrames)
    isConcealing = true
    concealedInRow += Int64(pullFrames)
    concealedFrames += Int64(pullFrames)
  }

  private func stretchIfDue() {
    guard !isConcealing, let playing = expected.map({ $0 - Int64(sound.count) }) else { return }
    let media = Double(playing) / Self.perMillisecond
    let delay = delays.playoutDelay(media: media, now: now)
    let low = delays.targetMilliseconds
    let high = low + delays.largestDelay + 20
    let isFast = delay >= 4 * high
    guard delay >= high || delay < low, isFast || ticksSinceStretch >= 5 else { return }
    while sound.count < NetEQTimeStretch.requiredFrames, let expected,
      let entry = stored.removeValue(forKey: expected)
    {
      sound += entry.isRedundancy ? decoder.recover(entry.packet) : decoder.decode(entry.packet)
      self.expected = expected + entry.packet.frames
    }
    let isChanged =
      delay >= high ? stretch.accelerate(&sound, isFast: isFast) > 0 : expandWithPlayed()
    if isChanged { ticksSinceStretch = 0 }
  }

  // To expand, what was played before helps out.
  private func expandWithPlayed() -> Bool {
    let missing = max(0, NetEQTimeStretch.requiredFrames - sound.count)
    guard missing <= NetEQTimeStretch.middle, missing <= played.count else { return false }
    var joined = Array(played.suffix(missing)) + sound
    guard stretch.expand(&joined) > 0 else { return false }
    sound = Array(joined.dropFirst(missing))
    return true
  }
}
