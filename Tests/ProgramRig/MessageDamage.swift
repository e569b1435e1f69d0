import Foundation

/// Damage to a SIP message in transit.
package enum MessageDamage: Sendable {
  /// Damage to one header.
  package enum Change: CaseIterable, Sendable {
    /// The header appears twice.
    case doubled
    /// The header has no value.
    case emptied
    /// The header is missing.
    case missing
    /// The value is 60 kB of nonsense.
    case replaced
    /// The value is followed by 60 kB of nonsense.
    case lengthened
  }

  /// The message ends after that number of bytes.
  case cut(Int)
  /// The header with that number, counted from 0, is changed.
  case header(Int, Change)

  /// Returns the damage that cuts the message off before each of its bytes.
  package static func cuts(of message: String) -> [MessageDamage] {
    (0..<message.utf8.count).map { MessageDamage.cut($0) }
  }

  /// Returns each change of each header of the message.
  package static func headers(of message: String) -> [MessageDamage] {
    let lines = message.components(separatedBy: "\r\n").dropFirst().prefix { !$0.isEmpty }
    return (0..<lines.count).flatMap { place in
      Change.allCases.map { MessageDamage.header(place, $0) }
    }
  }

  /// Returns the bytes of `message` with this damage.
  package func applied(to message: String) -> [UInt8] {
    switch self {
    case .cut(let length):
      return Array(message.utf8.prefix(length))
    case .header(let place, let change):
      var lines = message.components(separatedBy: "\r\n")
      let line = lines[place + 1]
      lines.replaceSubrange(place + 1...place + 1, with: Self.lines(for: line, change))
      return Array(lines.joined(separator: "\r\n").utf8)
    }
  }

  private static func lines(for line: String, _ change: Change) -> [String] {
    let name = line.prefix { $0 != ":" }
    let nonsense = String(repeating: "x", count: 60_000)
    return switch change {
    case .doubled: [line, line]
    case .emptied: ["\(name):"]
    case .missing: []
    case .replaced: ["\(name): \(nonsense)"]
    case .lengthened: [line + nonsense]
    }
  }
}
