/// Axis of a chart.
package struct Axis: Equatable, Sendable {
  /// Label with the quantity and its unit, for example "mouth to ear (ms)".
  package var label: String
  /// Least range of the axis; data may widen it.
  package var range: ClosedRange<Double>?

  /// Creates an axis that covers its data, and `range` if it is given.
  package init(_ label: String, range: ClosedRange<Double>? = nil) {
    self.label = label
    self.range = range
  }

  /// Returns round numbers that cover `values`, evenly spaced: 1, 2 or 5 times a power of ten
  /// apart.
  func ticks(covering values: [Double], atMost count: Int = 8) -> [Double] {
    let finite = values.filter(\.isFinite) + (range.map { [$0.lowerBound, $0.upperBound] } ?? [])
    var low = finite.min() ?? 0
    var high = finite.max() ?? 1
    // A chart cannot show finer steps.
    if abs(low) > 1e12 || abs(high) > 1e12 { (low, high) = (0, 1) }
    if high - low < 1e-9 { (low, high) = (low - 0.5, high + 0.5) }
    let step = Self.roundStep(atLeast: (high - low) / Double(count))
    let first = Int((low / step + 1e-9).rounded(.down))
    let last = Int((high / step - 1e-9).rounded(.up))
    return (first...max(first + 1, last)).map { Double($0) * step }
  }

  private static func roundStep(atLeast least: Double) -> Double {
    var power = 1.0
    while power > least { power /= 10 }
    while power * 10 <= least { power *= 10 }
    for factor in [1.0, 2, 5, 10] where power * factor >= least { return power * factor }
    return power * 10
  }
}
