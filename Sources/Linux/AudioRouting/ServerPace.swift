import MediaCore

/// Detector of sound-server cycles longer than the device's buffer, by the pace at which the server
/// moves frames.
///
/// PipeWire's settings do not name a cycle that another program or a Bluetooth headset forces. Its
/// ALSA plugin (0.3.65) loses what the buffer of four periods does not hold, and reports nothing.
struct ServerPace: Sendable {
  /// Share of the nominal frames below which the server counts as stalled.
  private static let standstill = 0.05
  /// Least shortfall, as a share of the nominal frames, that counts as loss of sound.
  ///
  /// It is more than any clock drift. PipeWire's cycles are powers of two: 480 of 512 frames are a
  /// shortfall of 6 %.
  private static let leastLack = 0.04
  /// Observations in a row that prove a loss, since a device begins slowly and a machine may stall.
  private static let proof = 3
  /// Longest period of a device, in nanoseconds: 4,096 frames at 48 kHz.
  private static let longest: Int64 = 85_333_333
  /// Number of periods that a buffer holds.
  private static let periods = 4.0

  private var last: (frames: Int64, at: MonotonicInstant)?
  private var shares: [Double] = []

  /// Creates a detector without observations.
  init() {}

  /// Notes `frames`, the total moved until `now`, at 48 kHz.
  ///
  /// Returns the server's cycle in nanoseconds once several notes in a row prove that sound is
  /// lost, so that the cycle is longer than four periods of `period` nanoseconds; nil otherwise,
  /// and for periods of 4,096 frames or more.
  mutating func note(frames: Int64, at now: MonotonicInstant, period: Int64) -> Int64? {
    defer { last = (frames, now) }
    guard let last, now.nanoseconds(since: last.at) > 0, period < Self.longest else { return nil }
    let passed = Double(now.nanoseconds(since: last.at))
    let share = Double(SampleRate.voice.nanoseconds(of: Int(frames - last.frames))) / passed
    // Frames come a period at a time.
    let lack = max(Self.leastLack, 2 * Double(period) / passed)
    guard share > Self.standstill, share < 1 - lack else {
      shares = []
      return nil
    }
    shares.append(share)
    guard shares.count >= Self.proof, let least = shares.min() else { return nil }
    self = ServerPace()
    return Int64(Self.periods * Double(period) / least)
  }
}
