/// The form of a message, seen in one pass before the library's decoder reads it.
///
/// libre's decoder matches patterns from every byte on until one fits. On a long value that fits
/// nowhere it takes time by the square of the length: a third of a second for a datagram of 8 kB,
/// and meanwhile no other request is answered. A value that fits at its first byte costs nothing,
/// at any length; the others may cost as much as `dearest`.
///
/// A value without I/O.
enum MessageForm: Equatable, Sendable {
  /// The decoder may read it.
  case good
  /// The headers have not ended yet.
  case unfinished
  /// The decoder is not to see it.
  case wrong

  /// No sender's headers are longer (the longest of RFC 4475 have 3.3 kB).
  static let longestHead = 16_384
  /// Lines, commas and semicolons: each is a piece of memory of the decoder's.
  static let mostParts = 512
  /// White space in a row, and digits of a CSeq.
  static let longestSpace = 64
  static let longestNumber = 32
  /// The sum of the squares of the lengths that the decoder has to look for: 0.2 ms.
  static let dearest = 65_536

  /// Headers with addresses, or of which a pattern is looked for, with their compact names.
  private static let addresses = [
    "to", "t", "from", "f", "contact", "m", "route", "record-route", "refer-to", "r", "referred-by",
    "b", "p-asserted-identity", "service-route", "reply-to",
  ]
  .map { Array($0.utf8) }
  private static let types = ["content-type", "c"].map { Array($0.utf8) }
  private static let sequence = Array("cseq".utf8)
  private static let words = [
    "event", "o", "subscription-state", "replaces", "session-expires", "x",
  ]
  .map { Array($0.utf8) }

  /// The form of a message that begins with `bytes`.
  init(_ bytes: ArraySlice<UInt8>) {
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
  private static func head(of bytes: ArraySlice<UInt8>) -> [Range<Int>]? {
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
      if !bytes[place + 1].isBlank {
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
    return parts.count == 3 && !parts[0].isEmpty && !parts[1].isEmpty
      && !line.prefix(parts[0].count + parts[1].count + 1).contains { $0.isLineEnd || $0 == .tab }
  }

  // A request's address; a response has none.
  private static func cost(ofStartLine line: ArraySlice<UInt8>) -> Int {
    let parts = line.split(separator: .space, maxSplits: 2, omittingEmptySubsequences: false)
    return line.starts(with: Array("SIP/".utf8)) ? 0 : cost(ofURI: parts[1])
  }

  private static func cost(of line: ArraySlice<UInt8>) -> Int {
    guard let colon = line.firstIndex(of: .colon) else { return square(longestWord(in: line)) }
    let name = line[..<colon].lazy.filter { !$0.isBlank }.map(\.small)
    let value = line[line.index(after: colon)...]
    guard longestRun(in: value, where: { $0.isBlank || $0.isLineEnd }) <= longestSpace else {
      return .max / 2
    }
    func isOne(of names: [[UInt8]]) -> Bool { names.contains { name.elementsEqual($0) } }
    if isOne(of: addresses) { return parts(of: value).reduce(0) { $0 + cost(ofAddress: $1) } }
    if isOne(of: types) {
      let type = value.prefix { $0 != .semicolon }
      return type.contains(.slash) && longestWord(in: type) < 128 ? 0 : square(value.count)
    }
    if isOne(of: words) { return square(longestWord(in: value.prefix { $0 != .semicolon })) }
    guard name.elementsEqual(sequence) else { return 0 }
    let digits = longestRun(in: value) { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return digits <= longestNumber ? square(longestWord(in: value)) : .max / 2
  }

  // Between commas that are neither quoted nor part of an address.
  private static func parts(of value: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    var (isQuoted, isInside) = (false, false)
    return value.split { byte in
      if byte == .quote { isQuoted.toggle() }
      if !isQuoted, byte == .less || byte == .greater { isInside = byte == .less }
      return byte == .comma && !isQuoted && !isInside
    }
  }

  // A name, if there is one, and an address between brackets; or the address alone.
  private static func cost(ofAddress value: ArraySlice<UInt8>) -> Int {
    guard let open = value.firstIndex(of: .less) else {
      return value.contains { $0.isBlank || $0.isLineEnd } && longestWord(in: value) > 0
        ? cost(ofWordsIn: value) + cost(ofURI: value) : cost(ofURI: value)
    }
    let display = value[..<open]
    let isQuoted = display.first { !$0.isBlank } == .quote
    let address = value[value.index(after: open)...].prefix { $0 != .greater }
    return (isQuoted ? 0 : cost(ofWordsIn: display)) + cost(ofURI: address)
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
    guard colon - uri.startIndex <= longestNumber else { return square(uri.count) }
    guard let at = uri[colon...].firstIndex(of: .at) else { return 0 }
    let next = uri[uri.index(after: at)...].first
    let stops: [UInt8] = [.semicolon, .question, .space, .slash]
    return next.map { stops.contains($0) } ?? true ? square(uri.count) : 0
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
  fileprivate static let less = UInt8(ascii: "<")
  fileprivate static let greater = UInt8(ascii: ">")
  fileprivate static let at = UInt8(ascii: "@")

  fileprivate var isBlank: Bool { self == .space || self == .tab }
  fileprivate var isLineEnd: Bool { self == .newline || self == .carriageReturn }
  /// In small letters.
  fileprivate var small: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}

/// The form of a session description, seen before the library's decoder reads it, for the same
/// reason.
enum DescriptionForm {
  static let mostLines = 500
  static let mostMedia = 16
  /// Of a line but `a=`, and of one that maps a payload type.
  static let longestLine = 512
  /// Of other attributes: an identity has kilobytes.
  static let longestAttribute = 16_384

  /// True if the decoder may read it.
  static func isGood(_ bytes: ArraySlice<UInt8>) -> Bool {
    let lines = bytes.split { $0.isLineEnd }
    guard lines.count <= mostLines,
      lines.count(where: { $0.starts(with: Array("m=".utf8)) }) <= mostMedia
    else { return false }
    return lines.allSatisfy { line in
      guard line.starts(with: Array("a=".utf8)) else { return line.count <= longestLine }
      let name = line.dropFirst(2).prefix { $0 != .colon }
      let isMapping = ["rtpmap", "fmtp", "rtcp", "crypto", "candidate"]
        .contains { name.elementsEqual($0.utf8) }
      return name.count <= 128 && line.count <= (isMapping ? longestLine : longestAttribute)
    }
  }
}
