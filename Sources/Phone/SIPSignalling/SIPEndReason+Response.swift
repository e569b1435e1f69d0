import CLibre

extension SIPEndReason {
  /// Maximum length in bytes of an address that is offered to a user.
  private static let longestAddress = 1_023

  /// The reason given by a final response: a refusal, or, with class 3xx, the far side's new
  /// address (RFC 3261 section 8.1.3.4).
  @unsafe
  init(_ response: UnsafePointer<sip_msg>) {
    let code = unsafe Int(response.pointee.scode)
    // The others name a proxy (305), or something else than a call (380).
    guard (300..<400).contains(code), ![305, 380].contains(code) else {
      self = unsafe .refused(code: code, phrase: String(response.pointee.reason))
      return
    }
    let contact = unsafe re_preferred_contact(response)
    guard unsafe (1...Self.longestAddress).contains(contact.l) else {
      self = .moved(to: nil)
      return
    }
    self = unsafe .moved(to: String(contact))
  }
}
