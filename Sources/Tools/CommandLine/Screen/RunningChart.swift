/// The last minute of a figure as rows of text, one column for each second.
///
/// A value without I/O.
struct RunningChart: Equatable {
  /// The value of each second, the newest last; nil for a second without one.
  let values: [Double?]
  /// Lowest value that the top of the scale may have.
  let leastTop: Double

  /// The top of the scale: 1, 2 or 5 times a power of ten.
  var top: Double {
    let highest = max(leastTop, values.compactMap { $0 }.max() ?? 0)
    var power = 1.0
    while power < highest { power *= 10 }
    return [power / 5, power / 2].first { $0 >= highest } ?? power
  }

  private static let eighths: [Character] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
  private static let marks: [Character] = [" ", ".", ".", ".", ":", ":", "|", "|", "#"]

  /// Returns the rows from the top; `isUnicode` allows blocks of an eighth.
  func rows(_ count: Int, isUnicode: Bool) -> [String] {
    let steps = isUnicode ? Self.eighths : Self.marks
    let top = top
    return (0..<count).map { row in
      String(
        values.map { value -> Character in
          guard let value else { return " " }
          // Something is to be seen of what is small, but not of nothing.
          let eighths = value / top * Double(count * 8)
          let whole = value > 0 ? max(1, Int(eighths.rounded())) : 0
          let below = 8 * (count - 1 - row)
          return steps[max(0, min(8, whole - below))]
        }
      )
    }
  }
}
