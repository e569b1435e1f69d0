import CLibre

/// Addresses of the far side of a call: the source of its first message, the nearest proxy in
/// Record-Route, and the numeric Contact for later requests, which may bypass a proxy.
@safe
struct FarSide {
  /// Source of the first message; nil for a call by an account, whose server is recognized by other
  /// means.
  private let source: sa?
  private var contact: sa?
  /// The nearest proxy in Record-Route; nil without one, or if it is given by a host name.
  private var proxy: sa?
  private let transport: sip_transp

  /// Notes the source and the transport of the far side's first message.
  @unsafe
  init(_ message: UnsafePointer<sip_msg>, isByServer: Bool) {
    source = isByServer ? nil : unsafe message.pointee.src
    transport = unsafe message.pointee.tp
  }

  /// Adopts the Contact of a message of the far side's (RFC 3261 section 12.2), and the first proxy
  /// that recorded its route.
  @unsafe
  mutating func follow(_ message: UnsafePointer<sip_msg>) {
    var named = sa()
    if unsafe re_contact_address(message, &named) { contact = named }
    // The way of a dialog is that of the message that begins it, which a 100 does not.
    var way = sa()
    if proxy == nil, unsafe re_proxy_address(message, &way) { proxy = way }
  }

  /// True if a message comes from the far side.
  ///
  /// A source that differs from the Contact is behind a router, which may assign it another port
  /// after a silence.
  @unsafe
  func hasSent(_ message: UnsafePointer<sip_msg>) -> Bool {
    // It sends from the port that it is reached at (RFC 3261 section 16.6, item 4).
    if var proxy, unsafe re_is_from(message, &proxy, sa_port(&proxy), transport) { return true }
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
  /// True if a message names the call's dialog, but does not come from its far side.
  @unsafe
  func isForged(_ message: UnsafePointer<sip_msg>, over other: SIPStack) -> Bool {
    guard let far, stack === other, let callID,
      unsafe callID == String(message.pointee.callid)
    else { return false }
    if account != nil, unsafe other.origin(of: message) != .elsewhere { return false }
    return unsafe !far.hasSent(message)
  }
}
