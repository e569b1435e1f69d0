import CLibre

extension Registration.Advice {
  /// Reads the advice in a refusal.
  @unsafe
  init(_ message: UnsafePointer<sip_msg>, isDigestUnknown: Bool) {
    self.init(
      retryAfter: unsafe Self.number(SIP_HDR_RETRY_AFTER, in: message),
      minimumExpires: unsafe Self.number(SIP_HDR_MIN_EXPIRES, in: message),
      isDigestUnknown: isDigestUnknown
    )
  }

  @unsafe
  private static func number(_ header: sip_hdrid, in message: UnsafePointer<sip_msg>) -> Int? {
    guard let found = unsafe sip_msg_hdr(message, header) else { return nil }
    return Int(unsafe String(found.pointee.val).prefix { $0.isASCII && $0.isNumber })
  }
}
