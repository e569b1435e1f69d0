import Foundation

/// A torture-test message of a standard, with the answers that the standard allows.
package struct TortureMessage: CustomStringConvertible, Sendable {
  private let name: String
  private let section: String
  // The codes of the first answer that are right, without 100.
  private let codes: Set<Int>
  private let mayBeIgnored: Bool
  private let mayWait: Bool
  /// Bytes of the message.
  package let bytes: [UInt8]

  /// Name of the message and its section in the standard.
  package var description: String { "\(name) (\(section))" }

  /// True if `code` is allowed as first answer.
  ///
  /// Nil stands for silence, which is allowed more often over a connection.
  package func allows(_ code: Int?, byConnection isByConnection: Bool) -> Bool {
    code.map(codes.contains) ?? (mayBeIgnored || isByConnection && mayWait)
  }

  /// The messages of a standard, `rfc4475` or `rfc5118`, in its order; none if it cannot be read.
  package static func all(of standard: String) -> [TortureMessage] {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../Torture/\(standard).txt")
    // The tests count the messages.
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    let whole = "\n" + (text.hasSuffix("\n") ? String(text.dropLast()) : text)
    return whole.components(separatedBy: "\n=== ").dropFirst().compactMap { Self($0 + "\n") }
  }

  private init?(_ part: String) {
    guard let divider = part.range(of: "\n---\n") else { return nil }
    let head = part[..<divider.lowerBound].components(separatedBy: "\n")
    let title = head[0].split(separator: " ")
    func words(_ field: String) -> [Substring]? {
      head.first { $0.hasPrefix(field) }?.dropFirst(field.count).split(separator: " ")
    }
    // Where libre does otherwise than it should, the message says so.
    guard title.count == 2, let words = words("here: ") ?? words("answer: ") else { return nil }
    name = String(title[0])
    section = String(title[1])
    codes = Set(words.compactMap { Int($0) })
    mayBeIgnored = words.contains("none")
    mayWait = head.contains { $0.hasPrefix("stream: none") }
    bytes = Self.expand(String(part[divider.upperBound...]))
  }

  // The notations of RFC 4475 section 2: lines that are one, bytes in hexadecimal, repetitions.
  private static func expand(_ text: String) -> [UInt8] {
    var lines: [String] = []
    var joined: String?
    for line in text.components(separatedBy: "\n") {
      switch line {
      case "<allOneLine>":
        joined = ""
      case "</allOneLine>":
        lines.append(joined ?? "")
        joined = nil
      default:
        if joined == nil { lines.append(line) } else { joined? += line }
      }
    }
    let repeated = lines.joined(separator: "\r\n")
      .replacing(/<repeat count=([0-9]+)>(.*?)<\/repeat>/) { match in
        String(repeating: String(match.2), count: Int(match.1) ?? 0)
      }
    var bytes: [UInt8] = []
    var rest = Substring(repeated)
    while let begin = rest.range(of: "<hex>"), let end = rest.range(of: "</hex>") {
      bytes += rest[..<begin.lowerBound].utf8
      let digits = Array(rest[begin.upperBound..<end.lowerBound].utf8)
      for place in stride(from: 0, to: digits.count - 1, by: 2) {
        let pair = String(decoding: digits[place...place + 1], as: UTF8.self)
        bytes.append(UInt8(pair, radix: 16) ?? 0)
      }
      rest = rest[end.upperBound...]
    }
    return bytes + rest.utf8
  }
}
