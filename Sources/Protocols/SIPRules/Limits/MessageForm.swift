/// The form of a message, checked in one pass before libre's decoder reads it.
///
/// libre's decoder matches patterns from every byte on until one fits. On a long value that fits
/// nowhere it takes time by the square of the length: a third of a second for a datagram of 8 kB,
/// and meanwhile no other request is answered. A value that fits at its first byte costs nothing,
/// at any length; the others may cost as much as `dearest`.
///
/// A value without I/O.
package enum MessageForm: Equatable, Sendable {
  /// The decoder may read it.
  case good
  /// The headers have not ended yet.
  case unfinished
  /// The decoder must not read it: it is malformed, or costs too much.
  case wrong

  /// Maximum length of the headers in bytes; the longest of RFC 4475 have 3.3 kB.
  package static let longestHead = 16_384
  /// Maximum number of lines, commas and semicolons, for each of which the decoder allocates
  /// memory.
  static let mostParts = 512
  /// Maximum length of white space.
  static let longestSpace = 64
  /// Maximum number of digits in a CSeq, and of letters in the scheme of a URI.
  static let longestNumber = 32
  /// Maximum cost of decoding, as the sum of the squares of the lengths that are searched: 0.2 ms.
  static let dearest = 65_536

  // Headers with addresses, or of which a pattern is looked for, with their compact names. libre
  // knows a header by twelve bits of a hash of its name: others of that number are read like it.
  private static let lists = numbers([
    "contact", "m", "route", "record-route", "p-asserted-identity", "service-route",
  ])
  private static let addresses = numbers([
    "to", "t", "from", "f", "refer-to", "r", "referred-by", "b", "reply-to",
  ])
  private static let types = numbers(["content-type", "c"])
  private static let sequence = number(Array("cseq".utf8)[...])
  private static let words = numbers([
    "event", "o", "subscription-state", "replaces", "session-expires", "x",
  ])

  private static func numbers(_ names: [String]) -> Set<UInt32> {
    Set(names.map { number(Array($0.utf8)[...]) })
  }

  // Of a compact name the letter, of others what libre's `hash_joaat_ci` says.
  static func number(_ name: ArraySlice<UInt8>) -> UInt32 {
    if name.count == 1, let letter = name.first { return 0x1000 + UInt32(letter.small) }
    var hash: UInt32 = 0
    for byte in name {
      hash &+= UInt32(byte.small)
      hash &+= hash << 10
      hash ^= hash >> 6
    }
    hash &+= hash << 3
    hash ^= hash >> 11
    hash &+= hash << 15
    return hash & 0xfff
  }

  /// Finds the form of a message that begins with `bytes`.
  package init(_ bytes: ArraySlice<UInt8>) {
    guard let lines = Self.head(of: bytes) else {
      self = bytes.count > Self.longestHead ? .wrong : .unfinished
      return
    }
    guard let start = lines.first, Self.isStartLine(bytes[start]),
      lines.count
        + bytes[start.lowerBound..<(lines.last ?? start).upperBound].count(where: {
          $0 == .comma || $0 == .semicolon
        }) <= Self.mostParts
    else {
      self = .wrong
      return
    }
    var cost = Self.cost(ofStartLine: bytes[start])
    for line in lines.dropFirst() where cost <= Self.dearest { cost += Self.cost(of: bytes[line]) }
    self = cost <= Self.dearest ? .good : .wrong
  }

  // The lines before the first empty one, each with those that go on with it; nil without that.
  static func head(of bytes: ArraySlice<UInt8>) -> [Range<Int>]? {
    var lines: [Range<Int>] = []
    // Some senders keep a path open by empty lines before a message (RFC 3261 section 7.5).
    var begin = bytes.firstIndex { !$0.isLineEnd } ?? bytes.endIndex
    var place = begin
    let end = min(bytes.endIndex, begin + longestHead)
    while place < end {
      guard bytes[place] == .newline else {
        place += 1
        continue
      }
      var next = place + 1
      while next < bytes.endIndex, bytes[next] == .carriageReturn { next += 1 }
      guard next < bytes.endIndex else { return nil }
      if !bytes[next].isBlank {
        lines.append(begin..<place)
        begin = place + 1
      }
      if bytes[next] == .newline { return lines }
      place += 1
    }
    return nil
  }

  // Three words; the library's pattern looks for them, and what does not begin with them may be
  // searched to its end from every byte.
  private static func isStartLine(_ line: ArraySlice<UInt8>) -> Bool {
    let parts = line.split(separator: .space, maxSplits: 2, omittingEmptySubsequences: false)
    let end = line.lastIndex { $0 != .carriageReturn } ?? line.startIndex
    return parts.count == 3 && !parts[0].isEmpty && !parts[1].isEmpty
      && !line[...end].contains { $0.isLineEnd }
      && !line.prefix(parts[0].count + parts[1].count + 1).contains { $0 == .tab }
  }

  // A request's address; a response has none.
  private static func cost(ofStartLine line: ArraySlice<UInt8>) -> Int {
    let parts = line.split(separator: .space, maxSplits: 2, omittingEmptySubsequences: false)
    return line.starts(with: Array("SIP/".utf8)) ? 0 : cost(ofURI: parts[1])
  }

  private static func cost(of line: ArraySlice<UInt8>) -> Int {
    guard let colon = line.firstIndex(of: .colon) else { return square(longestWord(in: line)) }
    let name = line[..<colon].split { $0.isBlank || $0.isLineEnd }
    guard name.count == 1, let id = name.first.map(Self.number) else { return .max / 2 }
    let value = trimmed(line[line.index(after: colon)...])
    guard longestRun(in: value, where: { $0.isBlank || $0.isLineEnd }) <= longestSpace else {
      return .max / 2
    }
    if lists.contains(id) {
      return parts(of: value).reduce(0) { $0 + cost(ofAddress: trimmed($1)) }
    }
    if addresses.contains(id) { return cost(ofAddress: value) }
    if types.contains(id) {
      let type = value.prefix { $0 != .semicolon }
      let names = type.split(separator: .slash, maxSplits: 1, omittingEmptySubsequences: false)
      let isWhole =
        names.count == 2 && names.allSatisfy { longestWord(in: $0) > 0 }
      return isWhole && longestWord(in: type) < 128 ? cost(ofWordsIn: type) : square(value.count)
    }
    if words.contains(id) { return square(longestWord(in: value.prefix { $0 != .semicolon })) }
    guard id == sequence else { return 0 }
    let digits = longestRun(in: value) { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return digits <= longestNumber ? square(longestWord(in: value)) : .max / 2
  }

  // Between commas that are not quoted, as libre parts them.
  private static func parts(of value: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    var isQuoted = false
    return value.split { byte in
      if byte == .quote { isQuoted.toggle() }
      return byte == .comma && !isQuoted
    }
  }

  // A name, if there is one, and an address between brackets; or the address alone.
  private static func cost(ofAddress value: ArraySlice<UInt8>) -> Int {
    var (isQuoted, isEscaped, marks) = (false, false, 0)
    let open = value.firstIndex { byte in
      if isEscaped {
        isEscaped = false
        return false
      }
      isEscaped = byte == .backslash
      if byte == .quote { (isQuoted, marks) = (!isQuoted, marks + 1) }
      return byte == .less && !isQuoted
    }
    let display = value[..<(open ?? value.endIndex)]
    let words = display.split { $0.isBlank || $0.isLineEnd }
    let rest = value[(open.map { $0 + 1 } ?? value.endIndex)...]
    let end = rest.firstIndex(of: .greater)
    let isName =
      marks == 0 || marks == 2 && words.first?.first == .quote && words.last?.last == .quote
    // Without brackets around it, or behind quotes that may hide anything, the whole is an address.
    guard let end, isName || words.count < 2 else {
      let isEmpty = value.first == .semicolon || open != nil && rest.isEmpty
      let search =
        words.count < 2 ? 0 : marks == 0 ? cost(ofWordsIn: display) : square(display.count)
      return search + (isEmpty ? square(value.count) : cost(ofURI: value))
    }
    if end == rest.startIndex { return square(value.count) }
    return (marks == 0 ? cost(ofWordsIn: display) : 0) + cost(ofURI: rest[..<end])
  }

  // Each is gone through from each of its bytes; the one that ends a value stops the search.
  private static func cost(ofWordsIn value: ArraySlice<UInt8>) -> Int {
    let words = value.split { $0.isBlank || $0.isLineEnd }
    guard words.count > 1 else { return 0 }
    return words.reduce(0) { $0 + square($1.count) }
  }

  // A host that is missing behind an at sign is looked for everywhere.
  private static func cost(ofURI value: ArraySlice<UInt8>) -> Int {
    let uri = value.drop { $0.isBlank }
    guard let colon = uri.firstIndex(of: .colon) else { return square(min(uri.count, 128)) }
    guard (1...longestNumber).contains(colon - uri.startIndex) else { return square(uri.count) }
    // A host is looked for behind the colon, and behind an at sign.
    let at = uri[colon...].firstIndex(of: .at)
    let isMissing = [colon, at ?? colon].contains { place in
      let next = uri[uri.index(after: place)...].first
      return next.map { [.semicolon, .question, .space, .slash].contains($0) } ?? true
    }
    return isMissing ? square(uri.count) : 0
  }

  private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let rest = text.drop { $0.isBlank || $0.isLineEnd }
    let last = rest.lastIndex { !$0.isBlank && !$0.isLineEnd }
    return rest[..<(last.map { $0 + 1 } ?? rest.startIndex)]
  }

  private static func square(_ length: Int) -> Int { length * length }

  private static func longestWord(in value: ArraySlice<UInt8>) -> Int {
    longestRun(in: value) { !$0.isBlank && !$0.isLineEnd }
  }

  private static func longestRun(
    in value: ArraySlice<UInt8>,
    where isPart: (UInt8) -> Bool
  ) -> Int {
    var (longest, length) = (0, 0)
    for byte in value {
      length = isPart(byte) ? length + 1 : 0
      longest = max(longest, length)
    }
    return longest
  }
}

extension UInt8 {
  fileprivate static let newline = UInt8(ascii: "\n")
  fileprivate static let carriageReturn = UInt8(ascii: "\r")
  fileprivate static let space = UInt8(ascii: " ")
  fileprivate static let tab = UInt8(ascii: "\t")
  fileprivate static let comma = UInt8(ascii: ",")
  fileprivate static let semicolon = UInt8(ascii: ";")
  fileprivate static let colon = UInt8(ascii: ":")
  fileprivate static let slash = UInt8(ascii: "/")
  fileprivate static let question = UInt8(ascii: "?")
  fileprivate static let quote = UInt8(ascii: "\"")
  fileprivate static let backslash = UInt8(ascii: "\\")
  fileprivate static let less = UInt8(ascii: "<")
  fileprivate static let greater = UInt8(ascii: ">")
  fileprivate static let at = UInt8(ascii: "@")

  fileprivate var isBlank: Bool { self == .space || self == .tab }
  fileprivate var isLineEnd: Bool { self == .newline || self == .carriageReturn }
  /// The letter in lower case; any other byte as it is.
  fileprivate var small: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}

/// The form of a session description, checked before libre's decoder reads it, for the same reason
/// as the form of a message (`MessageForm`).
package enum DescriptionForm {
  static let mostLines = 500
  static let mostMedia = 16
  /// Maximum length in bytes of lines but `a=`, and of the attributes that libre parses.
  static let longestLine = 512
  /// Maximum length in bytes of other attributes; an identity has kilobytes.
  static let longestAttribute = 16_384

  /// Returns true if the decoder may read the description.
  package static func isGood(_ bytes: ArraySlice<UInt8>) -> Bool {
    let lines = bytes.split { $0.isLineEnd }
    guard lines.count <= mostLines,
      lines.count(where: { $0.starts(with: Array("m=".utf8)) }) <= mostMedia
    else { return false }
    // Other media are not shown to the decoder (`AudioLines.hidingAll`).
    var isOfOther = false
    return lines.allSatisfy { line in
      if line.starts(with: Array("m=".utf8)) {
        // As `AudioLines` reads it.
        let fields = line.dropFirst(2).split(separator: .space)
        isOfOther = fields.first?.elementsEqual("audio".utf8) != true
      }
      guard line.starts(with: Array("a=".utf8)) else { return line.count <= longestLine }
      let name = line.dropFirst(2).prefix { $0 != .colon }
      let isMapping =
        !isOfOther
        && ["rtpmap", "fmtp", "rtcp", "crypto", "candidate"]
          .contains { name.elementsEqual($0.utf8) }
      return !name.isEmpty && name.count <= 128
        && line.count <= (isMapping ? longestLine : longestAttribute)
    }
  }
}
