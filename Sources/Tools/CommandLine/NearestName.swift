/// Search for the name that was probably meant.
enum NearestName {
  /// Returns the name that the fewest changes turn `typed` into; nil if that takes more than one
  /// change and more than a third of its length.
  static func of(_ typed: String, among names: [String]) -> String? {
    let nearest = names.map { (name: $0, distance: distance(typed, $0)) }
      .min { $0.distance < $1.distance }
    guard let nearest, nearest.distance <= max(1, typed.count / 3) else { return nil }
    return nearest.name
  }

  /// Returns the number of letters to insert, remove, replace, or swap with the next one (optimal
  /// string alignment), ignoring case.
  static func distance(_ one: String, _ other: String) -> Int {
    let (one, other) = (Array(one.lowercased()), Array(other.lowercased()))
    var rows = [Array(0...other.count)]
    for row in 0..<one.count {
      var next = [row + 1]
      for column in 0..<other.count {
        let isSame = one[row] == other[column]
        var least = min(
          rows[row][column] + (isSame ? 0 : 1),
          rows[row][column + 1] + 1,
          next[column] + 1
        )
        if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column] {
          least = min(least, rows[row - 1][column - 1] + 1)
        }
        next.append(least)
      }
      rows.append(next)
    }
    return rows[one.count][other.count]
  }
}
