/// Messages of a far side to a phone, filled with parts of the phone's own messages.
struct FarSideText {
  /// Texts that replace a dollar sign and a letter, by that letter.
  private var values: [UInt8: [UInt8]]

  /// Headers that are kept of the phone's last message, with their letters.
  private static let headers: [(letter: UInt8, name: [UInt8])] = [
    (UInt8(ascii: "v"), Array("Via: ".utf8)), (UInt8(ascii: "f"), Array("From: ".utf8)),
    (UInt8(ascii: "t"), Array("To: ".utf8)), (UInt8(ascii: "i"), Array("Call-ID: ".utf8)),
    (UInt8(ascii: "n"), Array("CSeq: ".utf8)),
  ]
  /// Version of SIP, at the start or at the end of a message's first line.
  private static let version = Array("SIP/2.0".utf8)
  /// Length in bytes at which filling stops: longer datagrams are dropped in any case.
  private static let limit = 8_192

  /// Texts of a far side at `host` and `port`.
  init(host: String, port: UInt16) {
    values = [UInt8(ascii: "h"): Array(host.utf8), UInt8(ascii: "p"): Array("\(port)".utf8)]
  }

  /// A text in which `$v`, `$f`, `$t`, `$i` and `$n` stand for headers of the phone's last message,
  /// and `$h` and `$p` for this side's host and port.
  func filled(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var filled: [UInt8] = []
    var rest = text
    while filled.count < Self.limit, let byte = rest.popFirst() {
      if byte == UInt8(ascii: "$"), let letter = rest.first, let value = values[letter] {
        rest.removeFirst()
        filled += value
      } else {
        filled.append(byte)
      }
    }
    return filled
  }

  /// Keeps the headers of messages that the phone has sent: one or several.
  mutating func note(_ said: [UInt8]) {
    var found: [UInt8: [UInt8]] = [:]
    for line in said.split(separator: UInt8(ascii: "\n")) {
      if Self.beginsMessage(line) {
        values.merge(found) { $1 }
        found = [:]
      }
      for (letter, name) in Self.headers where found[letter] == nil && line.starts(with: name) {
        found[letter] = Array(line.dropFirst(name.count).dropLast())
      }
    }
    values.merge(found) { $1 }
  }

  private static func beginsMessage(_ line: ArraySlice<UInt8>) -> Bool {
    // Without its CR.
    line.starts(with: version) || line.dropLast().suffix(version.count).elementsEqual(version)
  }
}
