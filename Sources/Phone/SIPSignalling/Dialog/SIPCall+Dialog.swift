import CLibre
import MediaCore
import RealTime

/// Session timers, and those requests in a call's dialog that libre leaves to its users.
extension SIPCall {
  /// Ends the call with a phone that answered after another one.
  @unsafe
  func endFork(_ message: UnsafePointer<sip_msg>) {
    let (own, tag) = unsafe (String(message.pointee.from.tag), String(message.pointee.to.tag))
    let sequence = unsafe message.pointee.cseq.num
    guard let stack, let tags, own == tags.local, tag != tags.remote,
      unsafe !isForged(message, over: stack),
      forks?.take(tag, answering: sequence, at: MonotonicClock.now()) == true
    else { return }
    _ = sending { unsafe re_end_fork(stack.sip, message) }
  }

  /// Ends a ringing call when its INVITE expires (RFC 3261 section 13.3.1).
  @unsafe
  func limitRinging(by message: UnsafePointer<sip_msg>) {
    guard let seconds = unsafe Int64(Self.header(SIP_HDR_EXPIRES, in: message)),
      (1...SIPCall.longestExpiry).contains(seconds)
    else { return }
    let end = MonotonicClock.now().advanced(by: .seconds(Int(seconds)))
    expiryTimer.start(for: end) { [weak self] in
      guard let self, !isAnswered, !isEstablished else { return }
      withExtendedLifetime(self) {
        reject(code: 487, phrase: "Request Terminated")
        report(.ended(id, .remoteHangUp))
      }
    }
  }

  /// Longest expiry that is observed, in seconds; a call rings for less.
  private static let longestExpiry: Int64 = 3_600

  // MARK: Session timers

  /// Returns the value of a header; empty if there is none, or if it has 1,024 bytes or more.
  @unsafe
  static func header(_ name: sip_hdrid, in message: UnsafePointer<sip_msg>) -> String {
    var text = [CChar](repeating: 0, count: 1_024)
    unsafe re_header(message, name, &text, text.count)
    return String(cStringBytes: text)
  }

  @unsafe
  private static func timerHeader(in message: UnsafePointer<sip_msg>) -> String {
    unsafe header(SIP_HDR_SESSION_EXPIRES, in: message)
  }

  /// True if a request asks for a session interval that is too short to be accepted.
  @unsafe
  static func isIntervalTooShort(_ message: UnsafePointer<sip_msg>) -> Bool {
    // A caller that knows no timers could not ask for another interval (RFC 4028 section 9).
    guard unsafe sip_msg_hdr_has_value(message, SIP_HDR_SUPPORTED, "timer") else { return false }
    let now = MonotonicInstant(nanoseconds: 0)
    let header = unsafe timerHeader(in: message)
    guard SessionTimer(header, isCaller: false, at: now) != nil else { return false }
    return Int(header.prefix { $0.isNumber }) ?? 0 < SessionTimer.shortest
  }

  /// Adopts the session timer in a request of the far side's, or in its response to one of this
  /// side's; without one the call has no timer from now on.
  @unsafe
  func noteTimer(in message: UnsafePointer<sip_msg>) {
    setTimer(
      SessionTimer(
        unsafe Self.timerHeader(in: message),
        isCaller: unsafe !message.pointee.req,
        isShared: unsafe sip_msg_hdr_has_value(message, SIP_HDR_SUPPORTED, "timer")
          || !message.pointee.req,
        at: MonotonicClock.now()
      )
    )
  }

  /// Headers about the session timer for an answer; empty without a timer.
  var timerAnswer: String {
    guard let timer = sessionTimer else { return "" }
    return (timer.isShared ? "Require: timer\r\n" : "") + timer.header(isCaller: false)
  }

  /// Restarts the session timer: while the call rang there was nothing to refresh.
  func restartTimer() {
    guard var timer = sessionTimer else { return }
    timer.restart(at: MonotonicClock.now())
    setTimer(timer)
  }

  /// Removes the session timer.
  func endTimer() { setTimer(nil) }

  private func setTimer(_ timer: SessionTimer?) {
    sessionTimer = timer
    guard let timer else { return refreshTimer.cancel() }
    refreshTimer.start(for: timer.next.at) { [weak self] in self?.timerFired() }
  }

  // Refreshes the call, or ends one that was not refreshed in time.
  private func timerFired() {
    guard let sessionTimer, isEstablished else { return }
    switch sessionTimer.next.step {
    case .refresh:
      refresh(sessionTimer)
    case .end:
      endAsGone()
    }
  }

  private func refresh(_ timer: SessionTimer) {
    guard let stack, refreshRequest.isEmpty else { return }
    let headers = "Supported: timer\r\n" + timer.header(isCaller: true)
    let code = sending {
      unsafe re_update(
        refreshRequest.place,
        stack.sip,
        session,
        { transport, own, _, message, context in
          unsafe SIPCall.from(context)?.writeContact(to: message, own, transport) ?? ENOENT
        },
        { unsafe SIPCall.from($2)?.gotRefreshed($0, $1) },
        context,
        headers
      )
    }
    if code != 0 { renegotiate() }
  }

  private func writeContact(
    to message: UnsafeMutablePointer<mbuf>?,
    _ own: UnsafePointer<sa>?,
    _ transport: sip_transp
  ) -> CInt {
    unsafe re_write_contact(message, account?.user ?? stack?.user ?? "", own, transport, "")
  }

  private func gotRefreshed(_ code: CInt, _ message: UnsafePointer<sip_msg>?) {
    guard code == 0, let message = unsafe message else { return refreshLater() }
    let status = unsafe Int(message.pointee.scode)
    guard status >= 200 else { return }
    switch status {
    case 200..<300:
      unsafe noteTimer(in: message)
    // It has a request of its own under way, or no time now (RFC 3311 section 5.2).
    case 491, 500, 503:
      refreshLater()
    case 408, 481:
      endAsGone()
    default:
      // It knows no UPDATE: a re-INVITE says the same, though without a timer.
      setTimer(nil)
      renegotiate()
    }
  }

  private func refreshLater() {
    guard var timer = sessionTimer else { return }
    timer.refreshWasLost(at: MonotonicClock.now())
    setTimer(timer)
  }

  // MARK: Early dialogs

  /// Maximum number of early dialogs, more than phones that ring in one call.
  private static let earlyDialogLimit = 64

  /// Notes the early dialog of a provisional response, whose sender may send requests from now on.
  @unsafe
  func noteEarlyDialog(_ message: UnsafePointer<sip_msg>) {
    let tag = unsafe String(message.pointee.to.tag)
    guard !tag.isEmpty, !earlyTags.contains(tag), earlyTags.count < Self.earlyDialogLimit else {
      return
    }
    earlyTags.append(tag)
  }

  /// True for a request of the far side's in the call's dialog, or in an early one.
  @unsafe
  func isInDialog(_ message: UnsafePointer<sip_msg>) -> Bool {
    guard let session = unsafe session, let dialog = unsafe sipsess_dialog(session) else {
      return false
    }
    if isEstablished || isIncoming { return unsafe sip_dialog_cmp(dialog, message) }
    return unsafe sip_dialog_cmp_half(dialog, message)
      && earlyTags.contains(String(message.pointee.from.tag))
  }

  /// Answers an UPDATE, INFO or OPTIONS request in an early dialog, where libre would answer that
  /// there is no such call; false for any other request.
  @unsafe
  func gotEarly(_ message: UnsafePointer<sip_msg>) -> Bool {
    guard !isEstablished, let stack, unsafe isInDialog(message) else { return false }
    if unsafe re_is_method(message, "UPDATE") != 0 {
      unsafe gotUpdate(message)
      return true
    }
    // One that is retransmitted has the same answer: nothing is changed by it.
    if unsafe re_is_method(message, "OPTIONS") != 0 {
      _ = unsafe re_reply_options(stack.sip, message)
      return true
    }
    guard unsafe re_is_method(message, "INFO") != 0 else { return false }
    guard unsafe isInOrder(message, hasOffer: false, over: stack) else { return true }
    // One that is refused may come again, as nothing is remembered of its answer.
    if unsafe gotInformation(stack.sip, message) {
      unsafe requests.note(message.pointee.cseq.num, from: String(message.pointee.from.tag))
    }
    return true
  }

  /// Answers an INFO of the far side's, and reports its DTMF digit.
  ///
  /// False if it was refused, as are info packages (RFC 6086) and bodies without a digit.
  @discardableResult
  func gotInformation(_ sip: OpaquePointer?, _ message: UnsafePointer<sip_msg>?) -> Bool {
    guard let message = unsafe message else { return false }
    let digit = unsafe UInt8(bitPattern: re_info_digit(message))
    // An empty one is accepted (RFC 2976 section 2.2).
    guard unsafe re_body_length(message) > 0 else {
      _ = unsafe re_reply(sip, message, 200, "OK")
      return true
    }
    guard digit != 0 else {
      // RFC 6086 section 4.2.2: a package that was not agreed on.
      if unsafe sip_msg_xhdr(message, "Info-Package") != nil {
        _ = unsafe re_refuse(sip, message, 469, "Bad Info Package", "Recv-Info:\r\n")
        return false
      }
      let accept = "Accept: application/dtmf-relay, application/dtmf\r\n"
      _ = unsafe re_refuse(sip, message, 415, "Unsupported Media Type", accept)
      return false
    }
    _ = unsafe re_reply(sip, message, 200, "OK")
    report(.digit(id, Character(UnicodeScalar(digit)).uppercased()))
    return true
  }

  /// Notes what a message says of the far side: its Contact, its name, the place it comes from.
  @unsafe
  func noteFarSide(_ message: UnsafePointer<sip_msg>) {
    if unsafe sip_msg_hdr(message, SIP_HDR_CONTACT) != nil {
      isContactSecure = unsafe re_is_contact_secure(message)
      contact = unsafe NamedContact(of: message)
      // A stranger who only rings has nothing looked up.
      if !isIncoming || isAnswered { lookUpContact() }
    }
    if unsafe message.pointee.req {
      unsafe requests.note(message.pointee.cseq.num, from: String(message.pointee.from.tag))
    }
    // The first INVITE names the caller, who is reported with it; of several phones that ring, the
    // one that answers counts.
    let isOfDialog = unsafe message.pointee.req && message.pointee.to.tag.l > 0
    if unsafe isOfDialog || message.pointee.scode >= 200 { unsafe noteName(in: message) }
    if far == nil { far = unsafe FarSide(message, isByServer: account != nil) }
    unsafe far?.follow(message)
  }

  /// Reports the name that an account's server gives the far side in a message of the dialog: who
  /// has answered (RFC 5876), or who is there after a transfer.
  @unsafe
  private func noteName(in message: UnsafePointer<sip_msg>) {
    guard account != nil,
      let (address, name) = unsafe UserAgent.assertedParty(in: message, mayBeNumber: true)
    else { return }
    report(.renamed(id, address: address, name: name.isEmpty ? nil : name))
  }

  // False for a request that has been refused.
  @unsafe
  private func isInOrder(
    _ message: UnsafePointer<sip_msg>,
    hasOffer: Bool,
    over stack: SIPStack
  ) -> Bool {
    let refusal = unsafe requests.refusal(
      of: message.pointee.cseq.num,
      from: String(message.pointee.from.tag),
      hasOffer: hasOffer,
      pause: .random(in: 0...10)
    )
    guard let refusal else { return true }
    let (code, phrase) = (refusal.code, refusal.phrase)
    unsafe stack.refuse(message, code, phrase, headers: refusal.headers)
    return false
  }

  /// Answers an UPDATE of the far side's: a refresh, another address, or a change of the media.
  @unsafe
  func gotUpdate(_ message: UnsafePointer<sip_msg>) {
    guard let stack else { return }
    let content = unsafe DescriptionBody(of: message).content
    guard content != .unknown else {
      let accept = "Accept: application/sdp\r\n"
      return unsafe stack.refuse(message, 415, "Unsupported Media Type", headers: accept)
    }
    let hasOffer = content != .none
    guard unsafe isInOrder(message, hasOffer: hasOffer, over: stack) else { return }
    if unsafe SIPCall.isIntervalTooShort(message) {
      _ = unsafe re_refuse_interval(stack.sip, message, UInt32(SessionTimer.shortest))
      return
    }
    var answer: UnsafeMutablePointer<mbuf>?
    if hasOffer {
      guard unsafe gotOffer(&answer, message) == 0 else {
        let warning = UserAgent.mediaWarning
        return unsafe stack.refuse(message, 488, "Not Acceptable Here", headers: warning)
      }
    } else {
      unsafe noteFarSide(message)
    }
    // One that tells who is reached says nothing of the timer that the answer will begin.
    if unsafe isEstablished || sip_msg_hdr(message, SIP_HDR_SESSION_EXPIRES) != nil {
      unsafe noteTimer(in: message)
    }
    defer { _ = unsafe mem_deref(answer) }
    // Later requests go to the address that this one names (RFC 3311 section 5.1).
    if isEstablished || isIncoming, let session = unsafe session {
      _ = unsafe sip_dialog_rseq_valid(sipsess_dialog(session), message)
      _ = unsafe sip_dialog_update(sipsess_dialog(session), message)
    }
    let user = account?.user ?? stack.user
    _ = unsafe re_reply_described(stack.sip, message, user, timerAnswer, answer)
  }
}

extension UserAgent {
  /// Lets the call that an UPDATE belongs to answer it; false if it belongs to none.
  @unsafe
  func gotUpdate(_ message: UnsafePointer<sip_msg>, over stack: SIPStack) -> Bool {
    let call = calls.values.first { unsafe $0.stack === stack && $0.isInDialog(message) }
    unsafe call?.gotUpdate(message)
    return call != nil
  }

  /// Lets the call to whose early dialog a request belongs answer it; false if there is none.
  @unsafe
  func gotEarly(_ message: UnsafePointer<sip_msg>, over stack: SIPStack) -> Bool {
    calls.values.contains { unsafe $0.stack === stack && $0.gotEarly(message) }
  }
}
