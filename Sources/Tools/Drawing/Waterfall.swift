/// Waterfall chart as SVG: stages in sequence, each with a bar that begins where the one before
/// ended.
package struct Waterfall: Equatable, Sendable {
  /// One stage.
  package struct Stage: Equatable, Sendable {
    /// Name of the stage.
    package var name: String
    /// Amount that it adds, in the unit of the axis; not negative.
    package var amount: Double

    /// Creates a stage that adds `amount`.
    package init(_ name: String, _ amount: Double) {
      self.name = name
      self.amount = amount
    }
  }

  /// The title above the bars.
  package var title: String
  /// Axis of the sum, with its unit.
  package var axis: Axis
  /// Stages, from the top.
  package var stages: [Stage]

  /// Creates a waterfall of the given stages.
  package init(title: String, axis: Axis, stages: [Stage]) {
    self.title = title
    self.axis = axis
    self.stages = stages
  }

  private static let rowHeight = 26.0
  private static let barsWidth = 520.0

  /// Returns the waterfall as one SVG document.
  package func svg() -> String {
    let top = 40.0
    let left = 24 + 7 * Double(stages.map(\.name.count).max() ?? 0)
    let bottom = top + Self.rowHeight * Double(stages.count)
    var canvas = SVGCanvas(width: left + Self.barsWidth + 80, height: bottom + 56)
    canvas.text(title, at: Point(x: 16, y: 22), size: 15, isBold: true)

    let ticks = axis.ticks(covering: [0, stages.reduce(0) { $0 + $1.amount }])
    let scale = Self.barsWidth / (ticks[ticks.count - 1] - ticks[0])
    for tick in ticks {
      let x = left + (tick - ticks[0]) * scale
      canvas.line(from: Point(x: x, y: top), to: Point(x: x, y: bottom), color: Palette.grid)
      canvas.text(tick.short, at: Point(x: x, y: bottom + 18), anchor: .middle, size: 11)
    }
    canvas.text(
      axis.label,
      at: Point(x: left + Self.barsWidth / 2, y: bottom + 42),
      anchor: .middle
    )

    var sum = 0.0
    for (row, stage) in stages.enumerated() {
      let y = top + Self.rowHeight * Double(row)
      let begin = left + (sum - ticks[0]) * scale
      canvas.text(stage.name, at: Point(x: left - 10, y: y + 17), anchor: .end)
      canvas.rectangle(
        from: Point(x: begin, y: y + 4),
        // What takes no time is still to be seen.
        width: max(1.5, stage.amount * scale),
        height: Self.rowHeight - 8,
        color: Palette.color(row)
      )
      sum += stage.amount
      canvas.text(
        stage.amount.short,
        at: Point(x: left + (sum - ticks[0]) * scale + 8, y: y + 17),
        size: 11
      )
    }
    return canvas.document()
  }
}
