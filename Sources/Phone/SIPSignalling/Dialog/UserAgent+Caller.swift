import CLibre

/// Callers, and what they offer.
extension UserAgent {
  /// The header that says that it is the media that is refused (RFC 3261 section 20.43).
  static let mediaWarning = "Warning: 305 sidetone \"Incompatible media format\"\r\n"

  /// False if no answer to a caller's offer is possible: then nothing is to ring.
  @unsafe
  func canTakeOffer(
    of message: UnsafePointer<sip_msg>,
    _ encryption: EncryptionOffer?
  ) -> Bool {
    guard let body = unsafe DescriptionBody.buffer(of: message) else { return true }
    defer { _ = unsafe mem_deref(body) }
    var encryption = encryption
    encryption?.mayDescribeKeys = unsafe message.pointee.tp == SIP_TRANSP_TLS
    return unsafe SessionDescription.preview(body, encryption: encryption) != nil
  }

  /// A name as libre can write it between quotes (RFC 3261 section 25.1).
  static func quotable(_ name: String) -> String {
    String(
      name.unicodeScalars.map {
        $0.value < 32 || "\"\\".contains(Character($0)) ? " " : Character($0)
      }
    )
  }

  /// The caller's URI and name, as he says himself.
  @unsafe
  static func caller(
    in message: UnsafePointer<sip_msg>
  ) -> (address: String, name: String) {
    unsafe (String(message.pointee.from.auri), String(message.pointee.from.dname))
  }

  /// The caller's URI and name as an account's server says (RFC 3325), nil if it says nothing.
  ///
  /// From others it means nothing.
  @unsafe
  static func assertedCaller(
    in message: UnsafePointer<sip_msg>
  ) -> (address: String, name: String)? {
    var address = [CChar](repeating: 0, count: 256)
    var name = [CChar](repeating: 0, count: 256)
    guard unsafe re_asserted_caller(message, &address, &name, 256) else { return nil }
    return (String(cStringBytes: address), String(cStringBytes: name))
  }
}
