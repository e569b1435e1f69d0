/// A chart of points or lines over two axes, with a legend beside it, as SVG.
///
/// Values that are not finite are skipped; a line is interrupted there.
package struct Chart: Equatable, Sendable {
  /// Style in which a series is drawn.
  package enum Mark: Equatable, Sendable {
    /// A line from point to point.
    case line
    /// A filled area from the points down to the bottom of the chart; later series cover it.
    case area
    /// A filled dot for each point.
    case dots
    /// A ring for each point.
    case rings
  }

  /// Points that belong together, with one colour and a line in the legend.
  package struct Series: Equatable, Sendable {
    /// Name of the series in the legend.
    package var name: String
    /// Points in the units of the axes.
    package var points: [Point]
    /// Style in which the points are drawn.
    package var mark: Mark
    /// Index of the colour, from 0 on; nil for the series' index in the chart.
    package var color: Int?

    /// Creates a series of the given points.
    package init(_ name: String, _ points: [Point], mark: Mark = .line, color: Int? = nil) {
      self.name = name
      self.points = points
      self.mark = mark
      self.color = color
    }
  }

  /// The title above the chart.
  package var title: String
  /// Horizontal axis, which increases to the right.
  package var horizontal: Axis
  /// Vertical axis, which increases upwards.
  package var vertical: Axis
  /// Series, drawn in this order.
  package var series: [Series]

  /// Creates a chart; without series, it shows its axes.
  package init(title: String, horizontal: Axis, vertical: Axis, series: [Series]) {
    self.title = title
    self.horizontal = horizontal
    self.vertical = vertical
    self.series = series
  }

  private static let plot = (left: 64.0, top: 40.0, width: 620.0, height: 320.0)

  /// Returns the chart as one SVG document.
  package func svg() -> String {
    let plot = Self.plot
    let longest = series.map(\.name.count).max() ?? 0
    // Twelve-pixel letters are seven wide.
    let legendWidth = longest == 0 ? 24 : 48 + 7 * Double(longest)
    let height = max(plot.top + plot.height + 56, plot.top + 18 * Double(series.count) + 20)
    var canvas = SVGCanvas(width: plot.left + plot.width + legendWidth, height: height)
    canvas.text(title, at: Point(x: plot.left, y: 22), size: 15, isBold: true)

    let points = series.flatMap(\.points).filter { $0.x.isFinite && $0.y.isFinite }
    let across = horizontal.ticks(covering: points.map(\.x))
    let up = vertical.ticks(covering: points.map(\.y))
    drawAxes(across: across, up: up, on: &canvas)

    for (index, series) in series.enumerated() {
      let color = Palette.color(series.color ?? index)
      draw(series, in: color, across: across, up: up, on: &canvas)
      let place = Point(x: plot.left + plot.width + 20, y: plot.top + 10 + 18 * Double(index))
      drawMark(series.mark, at: place, color: color, on: &canvas)
      canvas.text(series.name, at: Point(x: place.x + 16, y: place.y + 4))
    }
    return canvas.document()
  }

  private func place(_ point: Point, across: [Double], up: [Double]) -> Point {
    let plot = Self.plot
    let right = (point.x - across[0]) / (across[across.count - 1] - across[0])
    let high = (point.y - up[0]) / (up[up.count - 1] - up[0])
    return Point(x: plot.left + plot.width * right, y: plot.top + plot.height * (1 - high))
  }

  private func drawAxes(across: [Double], up: [Double], on canvas: inout SVGCanvas) {
    let plot = Self.plot
    let bottom = plot.top + plot.height
    for tick in across {
      let x = place(Point(x: tick, y: up[0]), across: across, up: up).x
      canvas.line(from: Point(x: x, y: plot.top), to: Point(x: x, y: bottom), color: Palette.grid)
      canvas.text(tick.short, at: Point(x: x, y: bottom + 18), anchor: .middle, size: 11)
    }
    for tick in up {
      let y = place(Point(x: across[0], y: tick), across: across, up: up).y
      canvas.line(
        from: Point(x: plot.left, y: y),
        to: Point(x: plot.left + plot.width, y: y),
        color: Palette.grid
      )
      canvas.text(tick.short, at: Point(x: plot.left - 8, y: y + 4), anchor: .end, size: 11)
    }
    let corner = Point(x: plot.left, y: bottom)
    canvas.line(from: corner, to: Point(x: plot.left + plot.width, y: bottom), color: Palette.frame)
    canvas.line(from: corner, to: Point(x: plot.left, y: plot.top), color: Palette.frame)
    canvas.text(
      horizontal.label,
      at: Point(x: plot.left + plot.width / 2, y: bottom + 42),
      anchor: .middle
    )
    canvas.text(
      vertical.label,
      at: Point(x: 18, y: plot.top + plot.height / 2),
      anchor: .middle,
      isUpright: false
    )
  }

  private func draw(
    _ series: Series,
    in color: String,
    across: [Double],
    up: [Double],
    on canvas: inout SVGCanvas
  ) {
    var run: [Point] = []
    func finish() {
      if series.mark == .area {
        canvas.area(run, above: Self.plot.top + Self.plot.height, color: color)
      } else {
        canvas.polyline(run, color: color)
      }
      run = []
    }
    for point in series.points {
      guard point.x.isFinite, point.y.isFinite else {
        finish()
        continue
      }
      let place = place(point, across: across, up: up)
      if [.line, .area].contains(series.mark) {
        run.append(place)
      } else {
        drawMark(series.mark, at: place, color: color, on: &canvas)
      }
    }
    finish()
  }

  private func drawMark(
    _ mark: Mark,
    at place: Point,
    color: String,
    on canvas: inout SVGCanvas
  ) {
    switch mark {
    case .line:
      let ends = (Point(x: place.x - 10, y: place.y), Point(x: place.x + 10, y: place.y))
      canvas.line(from: ends.0, to: ends.1, color: color, width: 2)
    case .area:
      let corner = Point(x: place.x - 10, y: place.y - 6)
      canvas.rectangle(from: corner, width: 20, height: 12, color: color)
    case .dots:
      canvas.circle(at: place, radius: 4, color: color, isFilled: true)
    case .rings:
      canvas.circle(at: place, radius: 4, color: color, isFilled: false)
    }
  }
}
