import CLibre

/// A check of requests that libre accepts, which finds faults and the responses to them (RFC 3261
/// section 8.2).
///
/// A value without I/O.
struct RequestCheck: Equatable, Sendable {
  /// A response that refuses a request.
  struct Refusal: Equatable, Sendable {
    let code: UInt16
    let phrase: String
    /// Further header lines, each with its line end.
    var headers = ""
  }

  var method: String
  var sequenceMethod: String
  /// Scheme of the request's URI, in lower case.
  var scheme: String
  /// True if a header that may occur once occurs more often.
  var hasDuplicates = false
  /// Value of `Content-Length` as it is written; nil without one.
  var contentLength: String?
  /// Number of bytes after the headers.
  var available = 0
  /// True if there is a body without a readable session description.
  var hasUnknownBody = false
  /// True if there is no body, or one that a receiver may ignore.
  var ignoresBody = false
  /// True if the body is compressed or encoded in another way (`Content-Encoding`).
  var isEncoded = false
  /// Extensions that the far side requires (`Require`).
  var required: [String] = []
  /// Media types that the far side accepts (`Accept`); nil if it does not say.
  var accepted: [String]?

  /// Extensions that this side supports.
  private static let extensions: Set<String> = ["replaces", "timer"]

  /// The refusal of the request; nil if it is in order, and for an ACK, which gets no response.
  var refusal: Refusal? {
    guard method != "ACK" else { return nil }
    guard method == sequenceMethod else { return bad("CSeq names another method") }
    guard !hasDuplicates else { return bad("a header is there twice") }
    if let contentLength {
      guard let length = UInt32(contentLength) else { return bad("Content-Length is no number") }
      guard length <= available else { return bad("the body is cut off") }
    }
    guard ["sip", "sips", "tel"].contains(scheme) else {
      return Refusal(code: 416, phrase: "Unsupported URI Scheme")
    }
    // A CANCEL is for what was required before.
    let unknown = required.filter { !Self.extensions.contains($0.lowercased()) }
    guard unknown.isEmpty || method == "CANCEL" else {
      let names = unknown.prefix(8).joined(separator: ", ")
      return Refusal(code: 420, phrase: "Bad Extension", headers: "Unsupported: \(names)\r\n")
    }
    guard method == "INVITE" else { return nil }
    if isEncoded {
      return Refusal(
        code: 415,
        phrase: "Unsupported Media Type",
        headers: "Accept-Encoding: identity\r\n"
      )
    }
    if hasUnknownBody {
      return Refusal(
        code: 415,
        phrase: "Unsupported Media Type",
        headers: "Accept: application/sdp, multipart/mixed, multipart/related\r\n"
      )
    }
    let types = ["application/sdp", "application/*", "*/*"]
    if let accepted, !accepted.contains(where: { types.contains($0.lowercased()) }) {
      return Refusal(code: 406, phrase: "Not Acceptable")
    }
    return nil
  }

  /// Refusal of a request that no call, registration or subscription of this side's is about (RFC
  /// 3261 sections 8.2.1 and 21.5.2, RFC 6665 section 4.2.1.1).
  static func refusal(ofUnwanted method: String) -> Refusal {
    switch method {
    case "CANCEL", "UPDATE", "BYE", "INFO", "PRACK", "NOTIFY", "REFER":
      Refusal(code: 481, phrase: "Call/Transaction Does Not Exist")
    case "SUBSCRIBE":
      Refusal(code: 489, phrase: "Bad Event", headers: "Allow-Events: refer\r\n")
    case "MESSAGE", "PUBLISH", "REGISTER":
      Refusal(
        code: 405,
        phrase: "Method Not Allowed",
        headers: "Allow: \(unsafe String(cString: re_methods()))\r\n"
      )
    default:
      Refusal(code: 501, phrase: "Not Implemented")
    }
  }

  private func bad(_ reason: String) -> Refusal {
    Refusal(code: 400, phrase: "Bad Request: \(reason)")
  }
}

extension RequestCheck {
  private static let single = [
    SIP_HDR_TO, SIP_HDR_FROM, SIP_HDR_CALL_ID, SIP_HDR_CSEQ, SIP_HDR_MAX_FORWARDS,
    SIP_HDR_CONTENT_LENGTH, SIP_HDR_CONTENT_TYPE,
  ]

  /// Reads the fields of a request.
  @unsafe
  init(_ message: UnsafePointer<sip_msg>) {
    method = unsafe String(message.pointee.met)
    sequenceMethod = unsafe String(message.pointee.cseq.met)
    scheme = unsafe String(message.pointee.uri.scheme).lowercased()
    hasDuplicates = Self.single.contains { unsafe sip_msg_hdr_count(message, $0) > 1 }
    let length = unsafe message.pointee.clen
    contentLength = unsafe length.p == nil ? nil : String(length)
    available = unsafe message.pointee.mb.map { unsafe Int(mbuf_get_left($0)) } ?? 0
    let content = unsafe DescriptionBody(of: message).content
    (hasUnknownBody, ignoresBody) = (content == .unknown, content == .none)
    isEncoded = unsafe Self.values(of: SIP_HDR_CONTENT_ENCODING, in: message)
      .contains { $0.lowercased() != "identity" }
    required = unsafe Self.values(of: SIP_HDR_REQUIRE, in: message)
    let accepted = unsafe Self.values(of: SIP_HDR_ACCEPT, in: message)
    if unsafe sip_msg_hdr_count(message, SIP_HDR_ACCEPT) > 0 {
      self.accepted = accepted.map { String($0.prefix { $0 != ";" && !$0.isWhitespace }) }
    }
  }

  @unsafe
  private static func values(
    of header: sip_hdrid,
    in message: UnsafePointer<sip_msg>
  ) -> [String] {
    final class Found {
      var values: [String] = []
    }
    let found = Found()
    let context = unsafe Unmanaged.passUnretained(found).toOpaque()
    _ = unsafe sip_msg_hdr_apply(
      message,
      true,
      header,
      { header, _, context in
        guard let header = unsafe header, let context = unsafe context else { return false }
        let found = unsafe Unmanaged<Found>.fromOpaque(context).takeUnretainedValue()
        unsafe found.values.append(String(header.pointee.val))
        return false
      },
      context
    )
    return found.values
  }
}
