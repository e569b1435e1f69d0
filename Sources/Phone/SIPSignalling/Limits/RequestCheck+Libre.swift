import CLibre

extension RequestCheck {
  private static let single = [
    SIP_HDR_TO, SIP_HDR_FROM, SIP_HDR_CALL_ID, SIP_HDR_CSEQ, SIP_HDR_MAX_FORWARDS,
    SIP_HDR_CONTENT_LENGTH, SIP_HDR_CONTENT_TYPE,
  ]

  /// Reads the fields of a request.
  @unsafe
  init(_ message: UnsafePointer<sip_msg>) {
    unsafe self.init(
      method: String(message.pointee.met),
      sequenceMethod: String(message.pointee.cseq.met),
      scheme: String(message.pointee.uri.scheme).lowercased()
    )
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
