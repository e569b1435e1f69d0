import CLibre

/// Callers and their offers.
extension UserAgent {
  /// The header of a refusal whose reason is the media (RFC 3261 section 20.43).
  static let mediaWarning = "Warning: 305 sidetone \"Incompatible media format\"\r\n"

  /// True if a caller's offer can be answered, or there is none; otherwise the call must not ring.
  @unsafe
  func canTakeOffer(
    of message: UnsafePointer<sip_msg>,
    at host: String,
    _ encryption: EncryptionOffer?
  ) -> Bool {
    guard let body = unsafe DescriptionBody.buffer(of: message) else { return true }
    defer { _ = unsafe mem_deref(body) }
    var encryption = encryption
    encryption?.mayDescribeKeys = unsafe message.pointee.tp == SIP_TRANSP_TLS
    return unsafe SessionDescription.preview(body, at: host, encryption: encryption) != nil
  }

  /// Returns a name with spaces for the characters that libre cannot write between quotes (RFC 3261
  /// section 25.1).
  static func quotable(_ name: String) -> String {
    String(
      name.unicodeScalars.map {
        $0.value < 32 || "\"\\".contains(Character($0)) ? " " : Character($0)
      }
    )
  }

  /// Returns the caller's URI and name from the header From, which a caller may choose freely.
  @unsafe
  static func caller(
    in message: UnsafePointer<sip_msg>
  ) -> (address: String, name: String) {
    let value = unsafe String(message.pointee.from.val)
    return unsafe (String(message.pointee.from.auri), displayName(in: value))
  }

  /// Returns the display name in the value of a header, plain or quoted (RFC 3261 section 25.1);
  /// empty without one.
  ///
  /// Escapes are resolved, and control and direction characters replaced by spaces.
  static func displayName(in value: String) -> String {
    let text = value.unicodeScalars.drop { $0.properties.isWhitespace }
    var name = String.UnicodeScalarView()
    if text.first == "\"" {
      var isEscaped = false
      for scalar in text.dropFirst() {
        if !isEscaped, scalar == "\"" { break }
        isEscaped = !isEscaped && scalar == "\\"
        if !isEscaped { name.append(scalar) }
      }
    } else if let end = text.firstIndex(of: "<") {
      name.append(contentsOf: text[..<end])
    }
    let blank: Unicode.Scalar = " "
    let plain = name.map { isPlain($0) ? $0 : blank }
    return plain.split(separator: blank).map { String(String.UnicodeScalarView($0)) }
      .joined(separator: " ")
  }

  // A caller chooses the name: it stays on its line, and reads in one direction.
  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    let isDirection =
      ("\u{202A}"..."\u{202E}").contains(scalar)
      || ("\u{2066}"..."\u{2069}").contains(scalar)
    return !isDirection && !scalar.properties.isWhitespace
      && scalar.properties.generalCategory != .control
  }

  /// Returns the URI and the name of a message's sender that an account's server asserts (RFC
  /// 3325); nil if it asserts none.
  ///
  /// A telephone number counts only with `mayBeNumber`: it cannot be called back by SIP. An
  /// assertion by other senders proves nothing.
  @unsafe
  static func assertedParty(
    in message: UnsafePointer<sip_msg>,
    mayBeNumber: Bool = false
  ) -> (address: String, name: String)? {
    var address = [CChar](repeating: 0, count: 256)
    var value = [CChar](repeating: 0, count: 256)
    guard unsafe re_asserted_party(message, mayBeNumber, &address, &value, 256) else { return nil }
    return (String(cStringBytes: address), displayName(in: String(cStringBytes: value)))
  }
}
