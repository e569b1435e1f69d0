import CLibre

extension SIPEndReason {
  /// Maximum length in bytes of an address that is offered to a user.
  private static let longestAddress = 255

  /// The reason given by a final response: a refusal, or, with class 3xx, the far side's new
  /// address (RFC 3261 section 8.1.3.4).
  @unsafe
  init(_ response: UnsafePointer<sip_msg>) {
    let code = unsafe Int(response.pointee.scode)
    guard (300..<400).contains(code) else {
      self = unsafe .refused(code: code, phrase: String(response.pointee.reason))
      return
    }
    var contact = unsafe sip_addr()
    guard var value = unsafe sip_msg_hdr(response, SIP_HDR_CONTACT)?.pointee.val,
      unsafe sip_addr_decode(&contact, &value) == 0,
      unsafe (1...Self.longestAddress).contains(contact.auri.l)
    else {
      self = .moved(to: nil)
      return
    }
    self = unsafe .moved(to: String(contact.auri))
  }
}
