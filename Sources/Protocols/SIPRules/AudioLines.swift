/// The audio lines of a session description, of which a call uses one (RFC 3264 section 6).
///
/// libre uses the first line whose transport it knows. So the transports of all lines but one are
/// marked before libre reads the description, which makes it refuse them, and the marks are removed
/// from what is sent. A value without I/O.
package struct AudioLines: Equatable, Sendable {
  /// An audio line of a description.
  package struct Line: Equatable, Sendable {
    /// Zero-based index among all media lines.
    package let index: Int
    /// True if its transport is encrypted.
    package let isSecure: Bool
    /// Host of the line's own `c=` line, else of the session's, without the time to live and the
    /// number of addresses (RFC 8866 section 5.7); nil without either line.
    package var host: String?
    /// Maximum bit rate of the payload in packets of 20 ms, in bits per second, by its own and the
    /// session's `b=` lines (RFC 8866 section 5.8, RFC 3890); nil without any.
    package var bitrate: Int?
  }

  private static let mark = Array("not-for-sidetone-".utf8)
  private let bytes: [UInt8]
  /// All audio lines in order, each with the index of its transport in `bytes`.
  private let found: [(line: Line, isRefused: Bool, transport: Int)]

  package static func == (one: AudioLines, other: AudioLines) -> Bool { one.bytes == other.bytes }

  /// Finds the audio lines of a description.
  package init(_ description: some Sequence<UInt8>) {
    var bytes = Array(description)
    // Some write C strings with their end.
    while bytes.last == 0 { bytes.removeLast() }
    self.bytes = bytes
    var found: [(line: Line, isRefused: Bool, transport: Int)] = []
    var count = 0
    var sessionHost: String?
    var sessionBitrate: Int?
    for whole in Self.lines(of: bytes) {
      let line = bytes[whole].prefix { !Self.isLineEnd($0) }
      let fields = line.dropFirst(2).split(separator: UInt8(ascii: " "))
      if line.starts(with: "c=".utf8), fields.count > 2 {
        let host = String(decoding: fields[2].prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self)
        if count == 0 { sessionHost = host }
        if let last = found.last, last.line.index == count - 1 {
          found[found.count - 1].line.host = host
        }
      }
      if let bitrate = Self.bitrate(line) {
        if count == 0 { sessionBitrate = min(bitrate, sessionBitrate ?? .max) }
        if let last = found.last, last.line.index == count - 1 {
          found[found.count - 1].line.bitrate = min(bitrate, last.line.bitrate ?? .max)
        }
      }
      guard line.starts(with: "m=".utf8) else { continue }
      if fields.count > 3, fields[0].elementsEqual("audio".utf8) {
        let isSecure = String(decoding: fields[2], as: UTF8.self).contains("SAVP")
        let isRefused = fields[1].prefix { $0 != UInt8(ascii: "/") }.elementsEqual("0".utf8)
        let line = Line(
          index: count,
          isSecure: isSecure,
          host: sessionHost,
          bitrate: sessionBitrate
        )
        found.append((line, isRefused, fields[2].startIndex))
      }
      count += 1
    }
    self.found = found
  }

  // `AS` counts the headers of IP, UDP and RTP: 40 bytes for each of 50 packets a second.
  private static func bitrate(_ line: some Collection<UInt8>) -> Int? {
    let text = String(decoding: line, as: UTF8.self)
    // Nothing at all is what lines that are not in use have.
    if text.hasPrefix("b=TIAS:"), let bits = UInt32(text.dropFirst(7)), bits > 0 {
      return Int(bits)
    }
    guard text.hasPrefix("b=AS:"), let kilobits = UInt32(text.dropFirst(5)), kilobits > 0
    else { return nil }
    return max(1, Int(kilobits) * 1_000 - 16_000)
  }

  /// The lines that are not refused, in their order.
  package var usable: [Line] { found.filter { !$0.isRefused }.map(\.line) }

  /// Returns the lines that are not refused, encrypted ones first; in both groups those of the
  /// address family of `host` come first (RFC 4091).
  package func candidates(for host: String) -> [Line] {
    func isOfOther(_ line: Line) -> Bool {
      line.host.map { $0.contains(":") != host.contains(":") } ?? false
    }
    let ordered = usable.filter { !isOfOther($0) } + usable.filter(isOfOther)
    return ordered.filter(\.isSecure) + ordered.filter { !$0.isSecure }
  }

  /// True if the media line at `index` is an audio line whose port is 0.
  package func isRefused(_ index: Int) -> Bool {
    found.contains { $0.line.index == index && $0.isRefused }
  }

  /// Returns the description with all audio lines marked but the one at `index`, and without the
  /// lines that belong to other media.
  ///
  /// libre refuses the whole description if it cannot read, for example, a video format.
  package func hidingAll(but index: Int) -> [UInt8] {
    var kept: [UInt8] = []
    var count = 0
    for whole in Self.lines(of: bytes) {
      let line = bytes[whole]
      if line.starts(with: "m=".utf8) {
        let other = found.first { $0.line.index == count && count != index }
        kept +=
          other.map { line[..<$0.transport] + Self.mark + line[$0.transport...] }
          ?? Self.withoutPortCount(line)
        count += 1
      } else if count == 0 || count == index + 1 {
        let line = Self.mended(line)
        if !Self.isUseless(line) { kept += line }
      }
    }
    return kept
  }

  // libre reads no number of ports (RFC 8866 section 5.14), of which the first one is used.
  private static func withoutPortCount(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let (blank, slash) = (UInt8(ascii: " "), UInt8(ascii: "/"))
    guard let first = line.firstIndex(of: blank), first + 1 < line.endIndex,
      let second = line[(first + 1)...].firstIndex(of: blank),
      let count = line[first..<second].firstIndex(of: slash)
    else { return line }
    return line[..<count] + line[second...]
  }

  // Each with its end, which is CR, LF or both, as libre reads them.
  private static func lines(of bytes: [UInt8]) -> [Range<Int>] {
    var lines: [Range<Int>] = []
    var begin = 0
    while begin < bytes.count {
      let last = bytes[begin...].firstIndex(where: isLineEnd) ?? bytes.count - 1
      let isPair = bytes[last] == 13 && last + 1 < bytes.count && bytes[last + 1] == 10
      lines.append(begin..<last + (isPair ? 2 : 1))
      begin = lines[lines.count - 1].upperBound
    }
    return lines
  }

  private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 10 || byte == 13 }

  // The name of a format without its clock (RFC 8866 section 6.6), parameters that are none, and
  // attributes without a name.
  private static func isUseless(_ line: ArraySlice<UInt8>) -> Bool {
    let text = line.prefix { !isLineEnd($0) }
    if text.starts(with: "a=rtpmap:".utf8) { return !text.contains(UInt8(ascii: "/")) }
    if text.starts(with: "a=fmtp:".utf8) { return !text.contains(UInt8(ascii: " ")) }
    return text.elementsEqual("a=".utf8)
  }

  // Without blanks at the end of an attribute, and without the time to live of a unicast address,
  // which only groups have (RFC 8866 section 5.7): libre reads neither.
  private static func mended(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let text = line.prefix { !isLineEnd($0) }
    let end = line[text.endIndex...]
    if text.starts(with: "a=".utf8) {
      return text.reversed().drop { $0 == 32 || $0 == 9 }.reversed() + end
    }
    guard text.starts(with: "c=IN IP4 ".utf8), let slash = text.firstIndex(of: UInt8(ascii: "/")),
      let first = UInt8(
        String(decoding: text.dropFirst(9).prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
      ), first < 224
    else { return line }
    return text[..<slash] + end
  }

  /// Returns a description of this side's without the marks that `hidingAll(but:)` has added.
  package static func showing(_ description: some Sequence<UInt8>) -> [UInt8] {
    var shown = Array(description)
    for (_, _, transport) in AudioLines(shown).found.reversed()
    where shown[transport...].starts(with: mark) {
      shown.removeSubrange(transport..<transport + mark.count)
    }
    return shown
  }
}
