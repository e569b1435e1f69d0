/// A place in a chart, in the units of its axes, or in a picture, in pixels.
package struct Point: Equatable, Sendable {
  /// Distance to the right.
  package var x: Double
  /// Distance upwards in a chart, downwards in a picture.
  package var y: Double

  /// Creates the point with these coordinates.
  package init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }
}

/// Colours that people with any colour vision can distinguish (Okabe and Ito, 2008), with grey in
/// place of yellow.
enum Palette {
  private static let colors = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999",
  ]

  static func color(_ index: Int) -> String { colors[index % colors.count] }

  static let frame = "#888888"
  static let grid = "#dddddd"
}
