/// Sorted values, and their percentiles.
package struct Percentiles {
  private let sorted: [Double]

  /// Values in any order; those that are not finite are left out.
  package init(_ values: [Double]) {
    sorted = values.filter(\.isFinite).sorted()
  }

  /// Number of values, all of them finite.
  package var count: Int { sorted.count }

  /// The value below which `share`, 0 to 1, of all lie; NaN if there are none.
  package func callAsFunction(_ share: Double) -> Double {
    guard !sorted.isEmpty else { return .nan }
    return sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
  }

  /// The middle value.
  package var median: Double { self(0.5) }
}
