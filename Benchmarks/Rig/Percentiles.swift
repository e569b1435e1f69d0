/// Values in order, of which a share lies below each percentile.
public struct Percentiles {
  private let sorted: [Double]

  /// Values in any order; those that are not finite are left out.
  public init(_ values: [Double]) {
    sorted = values.filter(\.isFinite).sorted()
  }

  /// How many values there are.
  public var count: Int { sorted.count }

  /// The value below which `share`, 0 to 1, of all lie; NaN if there are none.
  public func callAsFunction(_ share: Double) -> Double {
    guard !sorted.isEmpty else { return .nan }
    return sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
  }

  /// The middle value.
  public var median: Double { self(0.5) }
}
