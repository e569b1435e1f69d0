/// A check of requests that libre accepts, which finds faults and the responses to them (RFC 3261
/// section 8.2).
///
/// A value without I/O.
package struct RequestCheck: Equatable, Sendable {
  /// A response that refuses a request.
  package struct Refusal: Equatable, Sendable {
    package let code: UInt16
    package let phrase: String
    /// Further header lines, each with its line end.
    package let headers: String

    package init(code: UInt16, phrase: String, headers: String = "") {
      self.code = code
      self.phrase = phrase
      self.headers = headers
    }
  }

  package var method: String
  package var sequenceMethod: String
  /// Scheme of the request's URI, in lower case.
  package var scheme: String
  /// True if a header that may occur once occurs more often.
  package var hasDuplicates = false
  /// Value of `Content-Length` as it is written; nil without one.
  package var contentLength: String?
  /// Number of bytes after the headers.
  package var available = 0
  /// True if there is a body without a readable session description.
  package var hasUnknownBody = false
  /// True if there is no body, or one that a receiver may ignore.
  package var ignoresBody = false
  /// True if the body is compressed or encoded in another way (`Content-Encoding`).
  package var isEncoded = false
  /// Extensions that the far side requires (`Require`).
  package var required: [String] = []
  /// Media types that the far side accepts (`Accept`); nil if it does not say.
  package var accepted: [String]?

  /// A check of a request that is in order but for what is set afterwards.
  package init(method: String, sequenceMethod: String, scheme: String) {
    self.method = method
    self.sequenceMethod = sequenceMethod
    self.scheme = scheme
  }

  /// Extensions that this side supports.
  private static let extensions: Set<String> = ["replaces", "timer"]

  /// The refusal of the request; nil if it is in order, and for an ACK, which gets no response.
  package var refusal: Refusal? {
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

  /// Returns the refusal of a request that belongs to no call or subscription of this side's (RFC
  /// 3261 sections 8.2.1 and 21.5.2, RFC 6665 section 4.2.1.1).
  package static func refusal(ofUnwanted method: String, allowing methods: String) -> Refusal {
    switch method {
    case "CANCEL", "UPDATE", "BYE", "INFO", "PRACK", "NOTIFY", "REFER":
      Refusal(code: 481, phrase: "Call/Transaction Does Not Exist")
    case "SUBSCRIBE":
      Refusal(code: 489, phrase: "Bad Event", headers: "Allow-Events: refer\r\n")
    case "MESSAGE", "PUBLISH", "REGISTER":
      Refusal(
        code: 405,
        phrase: "Method Not Allowed",
        headers: "Allow: \(methods)\r\n"
      )
    default:
      Refusal(code: 501, phrase: "Not Implemented")
    }
  }

  private func bad(_ reason: String) -> Refusal {
    Refusal(code: 400, phrase: "Bad Request: \(reason)")
  }
}
