/// Canvas that writes the elements of one picture as SVG 1.1 text.
///
/// Positions are pixels from the top left corner.
struct SVGCanvas {
  enum Anchor: String {
    case start, middle, end
  }

  private let width: Double
  private let height: Double
  private var elements: [String] = []

  init(width: Double, height: Double) {
    self.width = width
    self.height = height
  }

  mutating func line(from start: Point, to end: Point, color: String, width: Double = 1) {
    elements.append(
      "<line x1=\"\(start.x.short)\" y1=\"\(start.y.short)\" x2=\"\(end.x.short)\" "
        + "y2=\"\(end.y.short)\" stroke=\"\(color)\" stroke-width=\"\(width.short)\"/>"
    )
  }

  mutating func polyline(_ points: [Point], color: String) {
    guard points.count > 1 else { return }
    let list = points.map { "\($0.x.short),\($0.y.short)" }.joined(separator: " ")
    elements.append(
      "<polyline points=\"\(list)\" fill=\"none\" stroke=\"\(color)\" stroke-width=\"1.5\" "
        + "stroke-linejoin=\"round\"/>"
    )
  }

  /// Fills the area between the points and `bottom`.
  mutating func area(_ points: [Point], above bottom: Double, color: String) {
    guard let first = points.first, let last = points.last, points.count > 1 else { return }
    let outline = [Point(x: first.x, y: bottom)] + points + [Point(x: last.x, y: bottom)]
    let list = outline.map { "\($0.x.short),\($0.y.short)" }.joined(separator: " ")
    elements.append("<polygon points=\"\(list)\" fill=\"\(color)\"/>")
  }

  mutating func circle(at center: Point, radius: Double, color: String, isFilled: Bool) {
    elements.append(
      "<circle cx=\"\(center.x.short)\" cy=\"\(center.y.short)\" r=\"\(radius.short)\" "
        + "fill=\"\(isFilled ? color : "#ffffff")\" stroke=\"\(color)\" stroke-width=\"1.5\"/>"
    )
  }

  mutating func rectangle(from corner: Point, width: Double, height: Double, color: String) {
    elements.append(
      "<rect x=\"\(corner.x.short)\" y=\"\(corner.y.short)\" width=\"\(max(0, width).short)\" "
        + "height=\"\(max(0, height).short)\" fill=\"\(color)\"/>"
    )
  }

  mutating func text(
    _ text: String,
    at position: Point,
    anchor: Anchor = .start,
    size: Double = 12,
    isBold: Bool = false,
    isUpright: Bool = true
  ) {
    let turn =
      isUpright ? "" : " transform=\"rotate(-90 \(position.x.short) \(position.y.short))\""
    elements.append(
      "<text x=\"\(position.x.short)\" y=\"\(position.y.short)\" "
        + "text-anchor=\"\(anchor.rawValue)\" font-size=\"\(size.short)\""
        + "\(isBold ? " font-weight=\"bold\"" : "")\(turn)>"
        + "\(text.escapedForMarkup)</text>"
    )
  }

  /// Returns the picture as one SVG document.
  func document() -> String {
    let head =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width.short)\" "
      + "height=\"\(height.short)\" viewBox=\"0 0 \(width.short) \(height.short)\" "
      + "font-family=\"Helvetica, Arial, sans-serif\" fill=\"#222222\">"
    let paper = "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
    return ([head, paper] + elements + ["</svg>", ""]).joined(separator: "\n")
  }
}

extension String {
  /// Text with the reserved characters of SVG and HTML escaped, for use between tags and in
  /// attributes; control characters become spaces.
  package var escapedForMarkup: String {
    var escaped = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      // XML has no other control characters (XML 1.0 section 2.2).
      case _ where scalar.value < 32 && !"\t\n\r".unicodeScalars.contains(scalar): escaped += " "
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}

extension Double {
  /// Decimal text with at most two digits after the point, without trailing zeros; 0 for a number
  /// that is not finite or too large.
  var short: String {
    guard isFinite, abs(self) < 1e12 else { return "0" }
    let hundredths = (self * 100).rounded()
    let whole = Int(abs(hundredths)) / 100
    let rest = Int(abs(hundredths)) % 100
    let sign = hundredths < 0 ? "-" : ""
    if rest == 0 { return "\(sign)\(whole)" }
    if rest % 10 == 0 { return "\(sign)\(whole).\(rest / 10)" }
    return "\(sign)\(whole).\(rest < 10 ? "0" : "")\(rest)"
  }
}
