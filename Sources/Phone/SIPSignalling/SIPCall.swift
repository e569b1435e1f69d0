import CLibre
import Glibc
import MediaCore
import RealTime

/// One INVITE session of libre's, with its session description.
///
/// **Thread safety:** the event loop's thread only; libre's callbacks run there too.
/// **Ownership:** the agent owns the call; libre holds an unretained pointer to it, which `close`
/// takes back by releasing the session.
@safe
final class SIPCall {
  let id: SIPCallID
  /// The stack that sends and receives the call's messages.
  var stack: SIPStack?
  /// The account by which the call goes; nil for a call without a server.
  var account: SIPAccount?
  /// Numeric host that an incoming call came from; empty for an outgoing call.
  var sourceHost = ""
  /// The path that ICE finds for the voice; nil if the voice goes to the addresses in the
  /// descriptions.
  var path: MediaPath? {
    didSet { description?.addresses = path?.description }
  }
  /// The far side that TLS connections for the call must lead to; nil for a call by an account or
  /// without TLS.
  var peer: SecurePeer?
  unowned let agent: UserAgent
  var session: OpaquePointer?
  /// The newest INVITE of an outgoing call.
  var invitation: Invitation?
  var sessionTimer: SessionTimer?
  let refreshTimer = LoopTimer()
  let refreshRequest = LibreSlot()
  private var offerRetry = OfferRetry()
  private let offerTimer = LoopTimer()
  let expiryTimer = LoopTimer()
  /// The tags of the dialog; nil until it is confirmed.
  private(set) var tags: (local: String, remote: String)?
  private(set) lazy var transfer = SIPTransfer { [weak self] status in
    guard let self else { return }
    report(.transferProgressed(id, status: status))
  }
  private var presence = FarSidePresence()
  /// The last description in provisional responses of each early dialog, by the responder's tag.
  var earlyAnswers: [String: [UInt8]] = [:]
  /// True while voice flows in one direction at most: one side holds the call, or only listens.
  var isHeld = false {
    didSet { if isHeld != oldValue { presence.noteHold() } }
  }
  /// True while the sides agree that this one sends voice.
  var maySend = true
  /// The OPTIONS request that is under way to check that the far side is still there.
  private let question = LibreSlot()
  private(set) var description: SessionDescription?
  private var remoteOffer: UnsafeMutablePointer<mbuf>?
  private(set) var isIncoming = false
  /// True if the call came by TLS.
  private var isSecure = false
  /// Addresses of the far side; nil before its first message.
  var far: FarSide?
  /// Answers of further phones to this side's INVITE; nil until the first phone has answered it.
  var forks: ForkedAnswers?
  /// The far side's newest Contact.
  var contact: NamedContact?
  /// True if later requests go to the far side by TLS.
  var isContactSecure = false
  private(set) var isEstablished = false
  /// True once the far side has sent any response.
  private(set) var isHeardOf = false
  private(set) var isAnswered = false
  /// End reason in the caller's CANCEL; nil if it gives none.
  var cancelReason: SIPEndReason?
  private var lacksCodec = false
  private var isVoiceRefused = false
  var requests = DialogRequests()
  /// Tags of the far side's early dialogs, one for each phone that rings (RFC 3261 section 12.1).
  var earlyTags: [String] = []
  var wantsRenegotiation = false

  init(id: SIPCallID, agent: UserAgent, _ description: SessionDescription?) {
    self.id = id
    self.agent = agent
    self.description = description
  }

  deinit {
    // Releasing an open session sends BYE or CANCEL; libre keeps it until that is done.
    dropRequests()
    _ = unsafe mem_deref(UnsafeMutableRawPointer(session))
    _ = unsafe mem_deref(remoteOffer)
  }

  /// True while the far side's TLS certificate and its first message are still awaited.
  var isInHandshake: Bool { peer?.expectation.verdict == .pending && !isHeardOf && !isEstablished }

  // Requests may open a connection, whose far side has to be the call's.
  func sending(_ body: () -> CInt) -> CInt {
    guard let stack else { return body() }
    return lendingSpareDescriptor { stack.expecting(peer, body) ?? EACCES }
  }

  // MARK: Where the far side is

  // False for a response by TLS over a connection whose far side was not looked at: one that it has
  // opened itself.
  private var isJudged: Bool {
    isIncoming || (peer.map { $0.expectation.verdict == .accepted } ?? true)
  }

  // libre is in the middle of the call.
  private func endUnjudged() {
    let (id, agent) = (id, agent)
    Task { await agent.endStrange(id) }
  }

  /// True if the call's signalling was encrypted.
  var isPrivate: Bool { isIncoming ? isSecure : peer?.expectation.verdict == .accepted }

  /// Call-ID of the dialog; nil before there is one.
  var callID: String? { unsafe re_call_id(session).map { unsafe String(cString: $0) } }

  var context: UnsafeMutableRawPointer {
    unsafe Unmanaged.passUnretained(self).toOpaque()
  }

  @unsafe
  static func from(_ context: UnsafeMutableRawPointer?) -> SIPCall? {
    unsafe context.map { unsafe Unmanaged<SIPCall>.fromOpaque($0).takeUnretainedValue() }
  }

  // MARK: Verbs

  func ring(_ message: UnsafePointer<sip_msg>, user: String, socket: OpaquePointer?) -> CInt {
    isIncoming = true
    unsafe noteFarSide(message)
    isSecure = unsafe message.pointee.tp == SIP_TRANSP_TLS
    unsafe noteTimer(in: message)
    unsafe limitRinging(by: message)
    unsafe remoteOffer = DescriptionBody.buffer(of: message)
    if unsafe remoteOffer != nil { requests.isRemoteOfferOpen = true }
    let credentials = unsafe makeCredentials()
    defer { _ = unsafe mem_deref(credentials) }
    return unsafe re_ring(
      &session,
      socket,
      message,
      user,
      credentials,
      { unsafe SIPCall.from($2)?.gotOffer($0, $1) ?? EPROTO },
      { unsafe SIPCall.from($1)?.gotAnswer($0) ?? EPROTO },
      { unsafe SIPCall.from($1)?.gotEstablished($0) },
      { unsafe SIPCall.from($2)?.gotInformation($0, $1) },
      { unsafe SIPCall.from($2)?.gotRefer($0, $1) },
      { unsafe SIPCall.from($2)?.gotClosed($0, $1) },
      context
    )
  }

  /// Returns the media that an answer to the caller's offer would agree on; nil without an offer,
  /// or if none of it can be accepted.
  func preview(_ encryption: EncryptionOffer?) -> NegotiatedMedia? {
    guard let offer = unsafe remoteOffer else { return nil }
    return unsafe SessionDescription.preview(
      offer,
      at: stack?.host ?? "127.0.0.1",
      encryption: withSignalling(encryption)
    )
  }

  // Keys are described to callers whose signalling is encrypted.
  private func withSignalling(_ encryption: EncryptionOffer?) -> EncryptionOffer? {
    var encryption = encryption
    encryption?.mayDescribeKeys = isSecure
    return encryption
  }

  func answer(_ offer: MediaOffer) -> Bool {
    var offer = offer
    offer.encryption = withSignalling(offer.encryption)
    guard !isAnswered else { return false }
    var isOffer = true
    if let remote = unsafe remoteOffer {
      let found = unsafe SessionDescription.answering(remote, with: offer, path?.description)
      guard let (description, media) = found else {
        reject(code: 488, phrase: "Not Acceptable Here")
        report(.ended(id, .noCommonCodec))
        return false
      }
      self.description = description
      isOffer = false
      agree(on: media, isOffer: true)
    } else {
      description = SessionDescription(offer)
      description?.addresses = path?.description
    }
    guard let description, let body = unsafe description.encode(asOffer: isOffer) else {
      reject(code: 500, phrase: "Server Internal Error")
      return false
    }
    defer { _ = unsafe mem_deref(body) }
    isAnswered = true
    lookUpContact()
    requests.isRemoteOfferOpen = false
    requests.awaitsAcknowledgement = isOffer
    return unsafe re_answer(session, body, timerAnswer) == 0
  }

  func reject(code: UInt16, phrase: String) {
    _ = unsafe re_reject(session, code, phrase)
    close()
  }

  func hangUp(as kind: SIPRefusal = .declined) {
    guard isIncoming && !isAnswered else {
      sayGoodbyeInOffer()
      return close()
    }
    switch kind {
    case .declined: reject(code: 603, phrase: "Decline")
    case .unavailable: reject(code: 480, phrase: "Temporarily Unavailable")
    }
  }

  /// Holds the call or resumes it by a re-INVITE (RFC 3264 section 8.4), which libre sends once the
  /// one before is complete.
  func setHeld(_ isHeld: Bool) {
    description?.setHeld(isHeld)
    // A hold before the call is established is signalled when it is.
    wantsRenegotiation = !isEstablished
    if !isHeld { path?.restartIfLost() }
    renegotiate()
  }

  func renegotiate() {
    guard isEstablished, let description else { return }
    // Keys are not for the open, nor for anybody who takes a connection to the far side's address.
    let isBound = account != nil || peer?.expectation.isBound == true
    guard isContactSecure && isBound || !description.describesKeys else {
      let reason =
        isContactSecure
        ? "it is not known what certificate it has to show" : "its address is not encrypted"
      return report(.renegotiationFailed(id, reason: reason))
    }
    description.offerAllCodecs(isRequested: false)
    guard let body = unsafe description.encode(asOffer: true) else { return }
    defer { _ = unsafe mem_deref(body) }
    let code = sending { unsafe sipsess_modify(session, body) }
    guard code != 0 else { return }
    report(.renegotiationFailed(id, reason: SIPError.text(code)))
  }

  /// Asks the far side by an OPTIONS request whether it is still there; does nothing while such a
  /// request is under way.
  func ask() {
    guard isEstablished, question.isEmpty, let stack else { return }
    let code = sending {
      unsafe re_ask(
        question.place,
        stack.sip,
        session,
        { unsafe SIPCall.from($2)?.gotStatus($0, $1) },
        context
      )
    }
    // Without a network nothing is sent, and nothing is answered.
    if code != 0 { unsafe gotStatus(code, nil) }
  }

  private func gotStatus(_ code: CInt, _ message: UnsafePointer<sip_msg>?) {
    let status = unsafe message.map { unsafe Int($0.pointee.scode) } ?? 0
    guard code != 0 || status >= 200 else { return }
    let answer = code == 0 ? status : nil
    if let answer, (200..<300).contains(answer) { path?.restartIfLost() }
    if FarSidePresence.isPresent(answer) { report(.present(id)) }
    switch presence.note(answer, isHeld: isHeld, at: MonotonicClock.now()) {
    case .none: break
    case .isUnheard: renegotiate()
    case .isGone: endAsGone()
    }
  }

  /// Ends a call whose far side is gone.
  func endAsGone() {
    withExtendedLifetime(self) {
      sayGoodbyeInOffer()
      close()
      report(.ended(id, .gone))
    }
  }

  // libre's own BYE waits for the answer to a re-INVITE, which may never come.
  private func sayGoodbyeInOffer() {
    guard let stack, isEstablished, requests.isOfferOpen, unsafe session != nil else { return }
    _ = sending { unsafe re_say_goodbye(stack.sip, session) }
  }

  private func dropRequests() {
    question.clear()
    transfer.clear()
    refreshRequest.clear()
    refreshTimer.cancel()
    offerTimer.cancel()
    expiryTimer.cancel()
  }

  func close() {
    dropRequests()
    // Without a connection that is as expected, the goodbye is still tried.
    let goodbye = { [self] in
      unsafe session = OpaquePointer(mem_deref(UnsafeMutableRawPointer(session)))
    }
    lendingSpareDescriptor {
      if let stack { stack.expecting(peer, goodbye) ?? goodbye() } else { goodbye() }
    }
  }

  /// Notes a final response to an INVITE of this side's.
  func noteFinal(_ status: Int, of sequence: UInt32) {
    if requests.noteFinal(of: sequence), status >= 300 { noteFailedOffer(status) }
  }

  /// Repeats a refused offer of an established call a little later, when the far side may accept
  /// it, or reports that it was refused.
  private func noteFailedOffer(_ status: Int) {
    // libre makes it again after a challenge, and when both sides have made one at once.
    guard isEstablished, ![401, 407, 491].contains(status) else { return }
    guard let pause = offerRetry.pause(after: status, isIncoming: isIncoming) else {
      return report(.offerRefused(id))
    }
    let time = MonotonicClock.now().advanced(byNanoseconds: pause)
    offerTimer.start(for: time) { [weak self] in self?.renegotiate() }
  }

  // MARK: What libre calls

  func report(_ event: SIPEvent) {
    agent.assumeIsolated { $0.report(event) }
  }

  func gotProgress(_ message: UnsafePointer<sip_msg>?) {
    isHeardOf = true
    guard let message = unsafe message else { return }
    guard isJudged else { return endUnjudged() }
    unsafe noteFarSide(message)
    unsafe noteEarlyDialog(message)
    guard unsafe message.pointee.scode >= 180 else { return }
    report(.ringing(id))
    // Early media (RFC 3960): what the network says before somebody answers. One that makes no
    // sense is no reason to end the call.
    guard case .description(let bytes) = unsafe DescriptionBody(of: message).content,
      let body = unsafe re_buffer_from(bytes, bytes.count)
    else { return }
    defer { _ = unsafe mem_deref(body) }
    let tag = unsafe String(message.pointee.to.tag)
    if earlyTags.contains(tag) || tag.isEmpty { earlyAnswers[tag] = bytes }
    guard let media = unsafe description?.negotiateEarly(with: body) else { return }
    report(.media(id, media))
  }

  func gotAnswer(_ message: UnsafePointer<sip_msg>?) -> CInt {
    guard isJudged else {
      isHeardOf = true
      return EACCES
    }
    if let message = unsafe message {
      unsafe noteFarSide(message)
      // A re-INVITE of libre's asks for no timer; the far side may go on with it.
      if unsafe !message.pointee.req { unsafe noteTimer(in: message) }
    }
    let body = unsafe message.flatMap { unsafe answer(in: $0) }
    defer { _ = unsafe mem_deref(body) }
    guard let body = unsafe body, let description,
      let media = unsafe description.negotiate(with: body, isOffer: false)
    else {
      // An established call outlives a description that makes no sense.
      lacksCodec = !isEstablished
      isVoiceRefused =
        unsafe body.map { unsafe description?.isVoiceRefused(by: $0) == true } ?? false
      return EPROTO
    }
    offerRetry.noteAgreement()
    agree(on: media, isOffer: false)
    return 0
  }

  // Gateways answer in a provisional response, and leave it out of the last one (RFC 3261 section
  // 13.2.1: the first description is the answer).
  @unsafe
  private func answer(in message: UnsafePointer<sip_msg>) -> UnsafeMutablePointer<mbuf>? {
    switch unsafe DescriptionBody(of: message).content {
    case .description(let bytes):
      return unsafe re_buffer_from(bytes, bytes.count)
    case .unknown:
      return nil
    case .none:
      guard !isEstablished, unsafe !message.pointee.req,
        let bytes = unsafe earlyAnswers[String(message.pointee.to.tag)]
      else { return nil }
      return unsafe re_buffer_from(bytes, bytes.count)
    }
  }

  // A re-INVITE, or an offer asked for by one that has no description.
  func gotOffer(
    _ answer: UnsafeMutablePointer<UnsafeMutablePointer<mbuf>?>?,
    _ message: UnsafePointer<sip_msg>?
  ) -> CInt {
    guard let answer = unsafe answer, let description else { return EPROTO }
    let body = unsafe message.flatMap { unsafe DescriptionBody.buffer(of: $0) }
    defer { _ = unsafe mem_deref(body) }
    var isOffer = true
    if let body = unsafe body {
      guard let media = unsafe description.negotiate(with: body, isOffer: true) else {
        return EPROTO
      }
      isOffer = false
      agree(on: media, isOffer: true)
    } else {
      description.offerAllCodecs(isRequested: true)
      requests.awaitsAcknowledgement = true
    }
    if let message = unsafe message {
      unsafe noteFarSide(message)
      // libre answers without a timer, and the far side has none from then on.
      if unsafe re_is_method(message, "INVITE") != 0 { endTimer() }
    }
    unsafe answer.pointee = description.encode(asOffer: isOffer)
    return unsafe answer.pointee == nil ? ENOMEM : 0
  }

  func gotEstablished(_ message: UnsafePointer<sip_msg>?) {
    let isFirst = !isEstablished
    (isEstablished, isHeardOf) = (true, true)
    requests.isInviting = false
    // A caller has got this side's tag where its INVITE came from; an ACK's source may be forged.
    let host = isIncoming ? sourceHost : unsafe message.map { unsafe UserAgent.host(of: $0) }
    if let message = unsafe message, let host, isFirst {
      agent.assumeIsolated { $0.noteCall(with: host) }
      let (from, to) = unsafe (String(message.pointee.from.tag), String(message.pointee.to.tag))
      // A response comes with this side's request, an ACK is the far side's.
      tags = unsafe message.pointee.req ? (to, from) : (from, to)
      if unsafe !message.pointee.req {
        forks = unsafe ForkedAnswers(to: message.pointee.cseq.num, at: MonotonicClock.now())
      }
      if unsafe !message.pointee.req { unsafe noteTimer(in: message) } else { restartTimer() }
    }
    path?.confirm()
    report(.established(id, from: host))
    guard isFirst, wantsRenegotiation else { return }
    wantsRenegotiation = false
    renegotiate()
  }

  func gotClosed(_ code: CInt, _ message: UnsafePointer<sip_msg>?) {
    if let message = unsafe message, unsafe invitesAgain(after: message) { return }
    let reason: SIPEndReason
    if let peer, peer.expectation.verdict == .refused || isHeardOf && !isJudged {
      reason = .strangeIdentity
    } else if lacksCodec, isVoiceRefused {
      // Another kind of line may be taken, as after a refusal of the call.
      reason = .refused(code: 488, phrase: "Not Acceptable Here")
    } else if lacksCodec {
      reason = .noCommonCodec
    } else if isIncoming, !isAnswered, let found = cancelReason {
      reason = found
    } else if let message = unsafe message, unsafe message.pointee.scode >= 300 {
      reason = unsafe SIPEndReason(message)
    } else if code == ETIMEDOUT {
      reason = .timeout
    } else if code != 0, unsafe message == nil, !isHeardOf, !isIncoming {
      reason = .unreachable(SIPError.text(code))
    } else if code == 0 || code == ECONNRESET {
      reason = .remoteHangUp
    } else {
      reason = .failed(SIPError.text(code))
    }
    // The agent forgets the call, whose last reference may be this one: keep it until we return.
    withExtendedLifetime(self) {
      close()
      report(.ended(id, reason))
    }
  }
}
