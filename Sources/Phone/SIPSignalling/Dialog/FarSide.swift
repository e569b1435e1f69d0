import CLibre

/// Addresses of the far side of a call: the source of its first message, and the numeric Contact
/// for later requests, which may come past a proxy.
@safe
struct FarSide {
  /// Nil for a call by an account: the server is known otherwise.
  private let source: sa?
  private var contact: sa?
  private let transport: sip_transp

  /// Addresses from the first message of the far side.
  @unsafe
  init(_ message: UnsafePointer<sip_msg>, isByServer: Bool) {
    source = isByServer ? nil : unsafe message.pointee.src
    transport = unsafe message.pointee.tp
  }

  /// Takes over the address that a later message of the far side's names (RFC 3261 section 12.2).
  @unsafe
  mutating func follow(_ message: UnsafePointer<sip_msg>) {
    var named = sa()
    if unsafe re_contact_address(message, &named) { contact = named }
  }

  /// True for a message that comes from there.
  ///
  /// A source that is not what it names is behind a router, which may have another port for it
  /// after a silence.
  @unsafe
  func hasSent(_ message: UnsafePointer<sip_msg>) -> Bool {
    guard var contact else {
      guard var source else { return false }
      return unsafe re_is_from(message, &source, 0, transport)
    }
    let port = unsafe sa_port(&contact)
    if unsafe re_is_from(message, &contact, port, transport) { return true }
    guard var source else { return false }
    let isDirect = unsafe re_is_same_host(&source, &contact)
    return unsafe re_is_from(message, &source, isDirect ? port : 0, transport)
  }
}

extension SIPCall {
  /// True if a message that names the call's dialog is not from where the far side is.
  @unsafe
  func isForged(_ message: UnsafePointer<sip_msg>, over other: SIPStack) -> Bool {
    guard let far, stack === other, let callID,
      unsafe callID == String(message.pointee.callid)
    else { return false }
    if account != nil, unsafe other.origin(of: message) != .elsewhere { return false }
    return unsafe !far.hasSent(message)
  }
}
