/// Picture for a terminal: lines of text in a few styles.
///
/// There are no colours, and text that stands out says why in words as well.
struct ScreenPicture: Equatable {
  /// Style of a piece of text.
  enum Style: Equatable {
    case plain, strong, faint, warning, inverse

    /// The parameters of ECMA-48's SGR.
    var parameters: String {
      switch self {
      case .plain: "0"
      case .strong: "0;1"
      case .faint: "0;2"
      case .warning: "0;1;4"
      case .inverse: "0;7"
      }
    }
  }

  /// A piece of a line.
  struct Span: Equatable {
    let text: String
    let style: Style

    init(_ text: String, _ style: Style = .plain) {
      self.text = text
      self.style = style
    }
  }

  /// One line.
  struct Line: Equatable {
    var spans: [Span] = []

    init(_ spans: Span...) { self.spans = spans }

    /// Width in terminal columns.
    var columns: Int { spans.reduce(0) { $0 + $1.text.terminalColumns } }

    mutating func append(_ text: String, _ style: Style = .plain) {
      spans.append(Span(text, style))
    }

    /// Adds spaces up to a column, at which the next span begins.
    mutating func pad(to column: Int) {
      let missing = column - columns
      if missing > 0 { append(String(repeating: " ", count: missing)) }
    }

    /// Returns the line cut to a number of columns.
    func cut(to limit: Int) -> Line {
      var line = Line()
      var left = limit
      for span in spans where left > 0 {
        let text = span.text.cut(toTerminalColumns: left)
        left -= text.terminalColumns
        line.append(text, span.style)
      }
      return line
    }

    /// Text without styles and without blanks at its end.
    var text: String {
      let whole = spans.map(\.text).joined()
      return String(whole.reversed().drop { $0 == " " }.reversed())
    }

    /// Text with the control codes of its styles.
    var styled: String {
      spans.map { span in
        span.style == .plain
          ? span.text : "\u{1B}[\(span.style.parameters)m\(span.text)\u{1B}[0m"
      }.joined()
    }
  }

  /// Lines from the top.
  var lines: [Line]

  /// The picture as text, for tests and readers.
  var text: String { lines.map(\.text).joined(separator: "\n") }

  /// Returns the output that turns a terminal showing `before` into this picture; empty if nothing
  /// differs.
  ///
  /// Terminals with synchronized output (mode 2026) show it in one step. With nil for `before` all
  /// of it is drawn.
  func update(from before: ScreenPicture?) -> String {
    var output = ""
    for (row, line) in lines.enumerated() {
      let isSame = before.map { $0.lines.indices.contains(row) && $0.lines[row] == line } ?? false
      if !isSame { output += "\u{1B}[\(row + 1);1H\(line.styled)\u{1B}[K" }
    }
    if (before?.lines.count ?? Int.max) > lines.count {
      output += "\u{1B}[\(lines.count + 1);1H\u{1B}[J"
    }
    // Terminals that know it (mode 2026) show all of it at once.
    return output.isEmpty ? "" : "\u{1B}[?2026h" + output + "\u{1B}[?2026l"
  }
}

extension Character {
  /// Width in terminal columns: 2 for wide characters (Unicode Standard Annex 11), 0 for those that
  /// only change the one before or are not printed, else 1.
  var terminalColumns: Int {
    guard let scalar = unicodeScalars.first else { return 0 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: break
    }
    let wide: [ClosedRange<UInt32>] = [
      0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
      0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF,
      0x20000...0x3FFFD,
    ]
    return wide.contains { $0.contains(scalar.value) } ? 2 : 1
  }
}

extension String {
  /// Width in terminal columns.
  var terminalColumns: Int { reduce(0) { $0 + $1.terminalColumns } }

  /// Returns the text with spaces after it, up to a number of columns.
  func padded(toTerminalColumns columns: Int) -> String {
    self + String(repeating: " ", count: max(0, columns - terminalColumns))
  }

  /// Returns the beginning of the text that fits into a number of columns.
  func cut(toTerminalColumns limit: Int) -> String {
    var left = limit
    return String(
      prefix { character in
        left -= character.terminalColumns
        return left >= 0
      }
    )
  }
}
