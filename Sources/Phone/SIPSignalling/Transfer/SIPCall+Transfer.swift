import CLibre
import NetworkAddress

/// Transfers of a call, and its replacement by another one.
extension SIPCall {
  /// The dialog's identifiers as the far side knows them; nil before it is confirmed.
  var name: DialogName? {
    guard let tags, let callID else { return nil }
    return DialogName(callID: callID, toTag: tags.remote, fromTag: tags.local)
  }

  /// True if the identifiers that a far side gives are those of this call's dialog.
  func isNamed(_ name: DialogName) -> Bool {
    guard let tags, let callID else { return false }
    return (name.callID, name.toTag, name.fromTag) == (callID, tags.local, tags.remote)
  }

  /// Asks the far side to call `target` (REFER).
  func refer(to target: TransferTarget, by referrer: String, user: String) {
    guard isEstablished, let stack else { return report(.transferProgressed(id, status: 481)) }
    let credentials = unsafe makeCredentials()
    defer { _ = unsafe mem_deref(credentials) }
    let code = sending {
      unsafe transfer.refer(
        over: stack,
        session,
        to: target,
        by: referrer,
        user: user,
        credentials
      )
    }
    if code != 0 { report(.transferProgressed(id, status: 500)) }
  }

  func gotRefer(_ sip: OpaquePointer?, _ message: UnsafePointer<sip_msg>?) {
    guard let message = unsafe message, let stack else { return }
    guard !transfer.isPending else {
      _ = unsafe re_reply(sip, message, 491, "Request Pending")
      return
    }
    var text = [CChar](repeating: 0, count: 4_096)
    unsafe re_refer_target(message, &text, text.count)
    // The dialog is confirmed by this side's answer, also while the acknowledgement is under way.
    guard var target = TransferTarget(referringTo: String(cStringBytes: text)),
      isEstablished || isAnswered
    else {
      _ = unsafe re_reply(sip, message, 400, "Bad Request")
      return
    }
    let header = unsafe sip_msg_hdr(message, SIP_HDR_REFERRED_BY)
    let referrer = unsafe header.map { unsafe String($0.pointee.val) }
    // It is written into a message, where a line's end would end a header.
    target.referrer = referrer.flatMap { text in
      let isLine = text.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 }
      return isLine && (1...2_048).contains(text.utf8.count) ? text : nil
    }
    let credentials = unsafe makeCredentials()
    defer { _ = unsafe mem_deref(credentials) }
    let user = account?.user ?? stack.user
    var isAccepted = false
    _ = sending {
      isAccepted = unsafe transfer.accept(message, over: stack, session, user: user, credentials)
      return 0
    }
    guard isAccepted else { return }
    report(.transferRequested(id, target))
  }
}

extension UserAgent {
  /// Asks the far side of a call to call a target instead; `SIPEvent.transferProgressed` reports
  /// the outcome.
  public func transfer(_ id: SIPCallID, to target: TransferTarget) {
    guard let call = calls[id.rawValue] else { return }
    call.refer(to: target, by: ownAddress(for: call), user: call.account?.user ?? user)
  }

  /// Asks the far side of a call to replace this side in another call (attended transfer).
  ///
  /// - Parameters:
  ///   - id: the call that is transferred.
  ///   - other: the call that is replaced; if it is not established, nothing is done.
  ///   - uri: the address of its far side; nil for the one that it has given for the call itself
  ///     (RFC 5589 section 7).
  public func transfer(_ id: SIPCallID, intoPlaceOf other: SIPCallID, at uri: String?) {
    guard let replaced = calls[other.rawValue], let name = replaced.name else { return }
    // A Contact with headers, or for another request, is none to be called.
    let own = replaced.contact.flatMap { TransferTarget(referringTo: $0.uri)?.uri }
    guard let uri = uri ?? own else {
      calls[id.rawValue]?.report(.transferProgressed(id, status: 500))
      return
    }
    transfer(id, to: TransferTarget(uri: uri, replacing: name))
  }

  /// Reports the status of the new call to the far side that asked for the transfer.
  public func reportTransfer(_ id: SIPCallID, status: Int, reason: String) {
    guard let call = calls[id.rawValue] else { return }
    _ = call.sending {
      call.transfer.tell(status, reason)
      return 0
    }
  }

  private func ownAddress(for call: SIPCall) -> String {
    call.account?.address ?? "sip:\(user)@\(SocketAddress.literal(call.stack?.host ?? ""))"
  }

  /// Returns the call that a request asks to replace, nil if it asks for none.
  ///
  /// It is refused if it names a call that does not exist, that its sender may not name, or that is
  /// answered although it has `early-only` (RFC 3891 section 3). A sender that knows the dialog's
  /// identifiers has seen its messages (RFC 3891 section 8), which proves little if these were not
  /// encrypted.
  @unsafe
  func replaced(
    by message: UnsafePointer<sip_msg>,
    over stack: SIPStack
  ) -> (call: ReplacedCall?, refusal: RequestCheck.Refusal?) {
    var text = [CChar](repeating: 0, count: 4_096)
    unsafe re_replaced(message, &text, text.count)
    let value = String(cStringBytes: text)
    guard !value.isEmpty else { return (nil, nil) }
    guard let name = DialogName(value),
      let call = calls.values.first(where: {
        $0.stack === stack && $0.isEstablished && $0.isNamed(name)
      }),
      let isProven = unsafe provesName(of: call, message, over: stack)
    else {
      return (nil, RequestCheck.Refusal(code: 481, phrase: "Call/Transaction Does Not Exist"))
    }
    guard !name.isEarlyOnly else {
      return (nil, RequestCheck.Refusal(code: 486, phrase: "Busy Here"))
    }
    return (ReplacedCall(id: call.id, isNameProven: isProven), nil)
  }

  // Whether the caller can only have the name of the call's dialog from one of its two sides: by
  // way of a server, over its connection; directly, if the name was never in the open. Nil for a
  // caller who may not name it at all.
  @unsafe
  private func provesName(
    of call: SIPCall,
    _ message: UnsafePointer<sip_msg>,
    over stack: SIPStack
  ) -> Bool? {
    guard call.account != nil else {
      return unsafe message.pointee.tp == SIP_TRANSP_TLS && call.isPrivate ? true : nil
    }
    switch unsafe stack.origin(of: message) {
    case .server: return true
    case .serverFlow: return stack.server?.transport == .tls ? nil : false
    case .elsewhere: return nil
    }
  }
}
