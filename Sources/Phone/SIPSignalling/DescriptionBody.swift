import CLibre

/// The session description in a message's body: the whole body, or a part of a multipart body
/// (RFC 5621).
///
/// Gateways send multipart bodies, whose other parts are meant for other receivers. A value without
/// I/O.
struct DescriptionBody: Equatable, Sendable {
  /// Kinds of bodies, as a receiver sees them.
  enum Content: Equatable, Sendable {
    /// No body, or one that a receiver may ignore (RFC 3261 section 20.11).
    case none
    /// A session description.
    case description([UInt8])
    /// A body without a session description.
    case unknown
  }

  let content: Content

  /// Maximum depth of nested multipart bodies.
  private static let mostLevels = 4
  private static let mostParts = 32

  /// Finds the session description in a body.
  ///
  /// - Parameters:
  ///   - body: the body's bytes.
  ///   - type: the value of `Content-Type`; without one the body is assumed to be a description.
  ///   - disposition: the value of `Content-Disposition`; nil without one.
  init(_ body: some Collection<UInt8>, type: String?, disposition: String? = nil) {
    guard !body.isEmpty else {
      content = .none
      return
    }
    let found = Self.content(of: Array(body)[...], type ?? "application/sdp", level: 0)
    let isIgnored = found == .unknown && Self.isOptional(HeaderFields(disposition ?? ""))
    content = isIgnored ? .none : found
  }

  private static func isOptional(_ disposition: HeaderFields) -> Bool {
    disposition["handling"]?.lowercased() == "optional"
  }

  private static func content(
    of body: ArraySlice<UInt8>,
    _ type: String,
    level: Int
  ) -> Content {
    let fields = HeaderFields(type)
    if fields.value == "application/sdp" { return .description(Array(body)) }
    if fields.value.hasPrefix("multipart/"), level < mostLevels,
      let boundary = fields["boundary"], !boundary.isEmpty
    {
      let found = parts(of: body, boundary: Array("--\(boundary)".utf8))
        .map { content(of: $0, level: level + 1) }
      let description = found.first { if case .description = $0 { true } else { false } }
      if let description { return description }
      return !found.isEmpty && found.allSatisfy { $0 == .none } ? .none : .unknown
    }
    return .unknown
  }

  private static func content(of part: ArraySlice<UInt8>, level: Int) -> Content {
    var rest = part
    var headers: [String: String] = [:]
    while let line = takeLine(from: &rest), !line.isEmpty {
      let text = String(decoding: line, as: UTF8.self)
      guard let colon = text.firstIndex(of: ":") else { continue }
      let name = text[..<colon].filter { !$0.isWhitespace }.lowercased()
      headers[name] = String(text[text.index(after: colon)...])
    }
    // What is encoded for mail is no description that a telephone writes (RFC 5621 section 3.2).
    let encoding = HeaderFields(headers["content-transfer-encoding"] ?? "binary").value
    let disposition = HeaderFields(headers["content-disposition"] ?? "session")
    let unknown = isOptional(disposition) ? Content.none : .unknown
    guard ["binary", "8bit", "7bit"].contains(encoding) else { return unknown }
    let type = headers["content-type"] ?? headers["c"] ?? "text/plain"
    // Of an early or another session (RFC 3959).
    guard disposition.value == "session" else { return unknown }
    let found = content(of: rest, type, level: level)
    return found == .unknown ? unknown : found
  }

  // What is between two lines of the boundary (RFC 2046 section 5.1.1); the line's end before a
  // boundary is the boundary's.
  private static func parts(
    of body: ArraySlice<UInt8>,
    boundary: [UInt8]
  ) -> [ArraySlice<UInt8>] {
    var parts: [ArraySlice<UInt8>] = []
    var rest = body
    var begin: Int?
    while parts.count < mostParts {
      let start = rest.startIndex
      guard let line = takeLine(from: &rest) else { break }
      guard line.starts(with: boundary) else { continue }
      let tail = line.dropFirst(boundary.count)
      let isLast = tail.starts(with: "--".utf8)
      guard isLast || tail.allSatisfy({ $0 == 32 || $0 == 9 }) else { continue }
      if let begin { parts.append(withoutEnd(body[begin..<max(begin, start)])) }
      begin = rest.startIndex
      if isLast { return parts }
    }
    // The last boundary may be lost.
    if let begin, begin < body.endIndex { parts.append(body[begin...]) }
    return parts
  }

  private static func withoutEnd(_ part: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard part.last == 10 else { return part }
    let line = part.dropLast()
    return line.last == 13 ? line.dropLast() : line
  }

  // Without its end, which is LF with or without CR.
  private static func takeLine(from rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard !rest.isEmpty else { return nil }
    let end = rest.firstIndex(of: 10) ?? rest.endIndex
    var line = rest[rest.startIndex..<end]
    if line.last == 13 { line = line.dropLast() }
    rest = rest[min(end + 1, rest.endIndex)...]
    return line
  }
}

/// The value of a header with its parameters: `multipart/mixed;boundary="a b"`.
private struct HeaderFields {
  /// The value without parameters, in lower case.
  let value: String
  private var parameters: [String: String] = [:]

  init(_ text: String) {
    var fields: [String] = [""]
    var (isQuoted, isEscaped) = (false, false)
    for character in text {
      if isEscaped {
        fields[fields.count - 1].append(character)
        isEscaped = false
      } else if isQuoted, character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        isQuoted.toggle()
      } else if character == ";", !isQuoted {
        fields.append("")
      } else if isQuoted || !character.isWhitespace {
        fields[fields.count - 1].append(character)
      }
    }
    value = fields[0].lowercased()
    for field in fields.dropFirst() {
      let pair = field.split(separator: "=", maxSplits: 1)
      if pair.count == 2 { parameters[pair[0].lowercased()] = String(pair[1]) }
    }
  }

  subscript(name: String) -> String? { parameters[name] }
}

extension DescriptionBody {
  /// Finds the session description in the body of a message of libre's.
  @unsafe
  init(of message: UnsafePointer<sip_msg>) {
    let buffer = unsafe message.pointee.mb
    let body = unsafe buffer.map {
      unsafe UnsafeBufferPointer(start: mbuf_buf($0), count: re_body_length(message))
    }
    func value(_ header: sip_hdrid) -> String? {
      unsafe sip_msg_hdr(message, header).map { unsafe String($0.pointee.val) }
    }
    unsafe self.init(
      Array(body ?? .init(start: nil, count: 0)),
      type: value(SIP_HDR_CONTENT_TYPE),
      disposition: value(SIP_HDR_CONTENT_DISPOSITION)
    )
  }

  /// Returns the session description of a message for libre to read; nil if it has none.
  ///
  /// The caller owns the buffer.
  @unsafe
  static func buffer(of message: UnsafePointer<sip_msg>) -> UnsafeMutablePointer<mbuf>? {
    guard case .description(let bytes) = unsafe DescriptionBody(of: message).content else {
      return nil
    }
    return unsafe re_buffer_from(bytes, bytes.count)
  }
}
