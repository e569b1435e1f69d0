/// A level meter with peak hold: the bar falls slowly, the mark stays for a while at the highest
/// level (after IEC 60268-18, in the main).
///
/// A value; time is an argument.
struct LevelMeter: Equatable {
  /// Level of the bar in dBFS; -100 for silence.
  private(set) var level = -100.0
  /// Highest level of the last moments in dBFS, at which the mark stands.
  private(set) var peak = -100.0
  private var peakSecond = 0.0
  private var second = 0.0

  /// Fall of the bar in decibels a second: 20 dB in 1.7 s.
  private static let fall = 20 / 1.7
  private static let holdSeconds = 1.5

  /// Takes in the highest level since the last time in dBFS; `now` is in seconds.
  mutating func note(_ decibels: Double, at now: Double) {
    let fallen = level - Self.fall * max(0, now - second)
    second = now
    level = max(-100, max(decibels, fallen))
    if decibels >= peak || now - peakSecond > Self.holdSeconds {
      peak = max(decibels, level)
      peakSecond = now
    }
  }

  /// Lowest level that the bar shows, in dBFS.
  static let floor = -60.0

  /// Returns a bar of so many columns.
  func bar(_ columns: Int, full: Character, empty: Character, mark: Character) -> String {
    func place(_ level: Double) -> Int {
      Int(((level - Self.floor) / -Self.floor * Double(columns)).rounded())
    }
    let filled = max(0, min(columns, place(level)))
    var bar =
      [Character](repeating: full, count: filled)
      + [Character](repeating: empty, count: columns - filled)
    let top = place(peak) - 1
    if bar.indices.contains(top), top >= filled { bar[top] = mark }
    return String(bar)
  }
}
