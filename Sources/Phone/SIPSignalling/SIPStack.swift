import CLibre
import Glibc
import NetworkAddress

/// libre's SIP stack at one address of the machine.
///
/// Each address has a stack of its own, since libre sends a call's later requests, like BYE, from
/// the first address of a stack, whichever network the call came over.
///
/// **Thread safety:** the event loop's thread only; libre's callbacks run there too. **Ownership:**
/// the agent owns it, and calls `release` before it drops it; libre holds an unretained pointer to
/// it.
@safe
final class SIPStack {
  /// The error of a stack that cannot listen at its address.
  struct Failure: Error {
    let code: CInt
    /// The transport that it cannot listen on; nil if libre itself failed.
    let transport: SIPTransport?
    /// The port that was to be bound.
    var port: UInt16 = 0
  }

  /// The origin of a message, as far as its source proves it.
  enum Origin: Equatable {
    /// The TLS connection to the account's server, whose certificate was checked.
    case server
    /// The address of the account's server, but without TLS, so that others could have sent it.
    case serverFlow
    case elsewhere
  }

  /// The machine's numeric address that the stack listens at.
  private(set) var host: String
  /// The account whose server the stack talks to; nil for a stack without an account.
  let account: SIPAccount?
  let server: SIPServer?
  /// The transports to listen on; TLS is left out without a context.
  let transports: [SIPTransport]
  private(set) var sip: OpaquePointer?
  private let tls: OpaquePointer?
  /// libre's socket for subscriptions and notifications, of transfers and of waiting messages.
  private(set) var eventSocket: OpaquePointer?
  /// The user part of its calls' contacts.
  let user: String
  /// libre's socket for INVITE sessions.
  private(set) var sessionSocket: OpaquePointer?
  private(set) var isClosed = false
  /// The error that prevents listening by TLS; nil if there was none.
  private(set) var secureFailure: Failure?
  private unowned let agent: UserAgent

  /// Listens by UDP and TCP, and, if there is a context `tls`, by TLS at the next port; with a
  /// `server`, by its transport alone.
  ///
  /// `names` is libre's DNS client.
  @unsafe
  init(
    at host: String,
    port: UInt16,
    names: OpaquePointer?,
    tls: OpaquePointer?,
    user: String,
    agent: UserAgent,
    of account: SIPAccount? = nil,
    at server: SIPServer? = nil
  ) throws(Failure) {
    self.host = host
    self.account = account
    self.user = account?.user ?? user
    self.server = server
    transports = server.map { [$0.transport] } ?? SIPTransport.allCases
    unsafe self.tls = tls
    self.agent = agent
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    let code = unsafe sip_alloc(
      &sip,
      names,
      32,
      32,
      32,
      "Sidetone",
      { unsafe SIPStack.from($0)?.didClose() },
      context
    )
    guard code == 0 else { throw Failure(code: code, transport: nil) }
    unsafe sip_set_trace_handler(sip) { isSent, _, _, _, bytes, length, context in
      guard let bytes = unsafe bytes else { return }
      unsafe SIPStack.from(context)?.lookEarly(bytes, length, isSent: isSent)
    }
    do throws(Failure) {
      try addTransports(port)
    } catch {
      release()
      throw error
    }
    // Before the sessions see them.
    unsafe sip_listen(
      nil,
      sip,
      false,
      { message, stack in
        unsafe SIPStack.from(stack)?.gotStray(message)
        return false
      },
      context
    )
    unsafe sip_listen(nil, sip, true, { unsafe SIPStack.from($1)?.drops($0) ?? false }, context)
    unsafe sipsess_listen(
      &sessionSocket,
      sip,
      32,
      { unsafe SIPStack.from($1)?.received($0) },
      context
    )
    unsafe re_event_socket(&eventSocket, sip)
    // What no session wants; left to itself libre prints it.
    unsafe sip_listen(nil, sip, true, { unsafe SIPStack.from($1)?.answer($0) ?? false }, context)
    unsafe sip_listen(nil, sip, false, { _, _ in true }, nil)
  }

  private func addTransports(_ port: UInt16) throws(Failure) {
    for transport in transports {
      if transport == .tls, unsafe tls == nil { continue }
      let number = transport == .tls && port != 0 ? port &+ 1 : port
      let code = unsafe re_transport_add(sip, transport.inLibre, host, number, tls)
      if code != 0, transport == .tls, account == nil {
        // Calls do without it as far as they may.
        secureFailure = Failure(code: code, transport: transport, port: number)
        continue
      }
      guard code == 0 else {
        throw Failure(code: code, transport: transport, port: number)
      }
    }
  }

  /// Moves the stack to another address of this machine, from which its calls send from now on.
  ///
  /// Throws if the address cannot be bound; then nothing can be sent any more.
  func move(to host: String) throws(Failure) {
    self.host = host
    unsafe sip_transp_flush(sip)
    try addTransports(0)
  }

  /// The address with the port in use, for display.
  var address: String {
    let port = unsafe re_transport_port(sip, SIP_TRANSP_UDP, host)
    return "\(SocketAddress.literal(host)):\(port)"
  }

  /// Returns the origin of a message.
  @unsafe
  func origin(of message: UnsafePointer<sip_msg>) -> Origin {
    guard let server else { return .elsewhere }
    let transport = server.transport.inLibre
    let own = unsafe re_transport_port(sip, transport, host)
    guard unsafe re_is_from_server(message, transport, server.address, server.port, own)
    else { return .elsewhere }
    return server.transport == .tls ? .server : .serverFlow
  }

  /// Runs `body`, which sends requests; TLS connections opened for them must lead to `peer`.
  ///
  /// Returns nil, with nothing sent, if there is already a connection to its destination whose far
  /// side is another one.
  func expecting<Result>(_ peer: SecurePeer?, _ body: () -> Result) -> Result? {
    guard let tls = unsafe tls, let peer else { return body() }
    let token = TLSExpectations.register(
      peer.expectation,
      host: peer.host,
      destination: peer.destination
    )
    guard let token else { return nil }
    unsafe re_tls_name_next(tls, token)
    defer { unsafe re_tls_name_next(tls, nil) }
    return body()
  }

  /// Closes once the sessions that are being ended are over, and notifies the agent.
  func close() {
    unsafe sip_close(sip, false)
  }

  /// Closes at once.
  func release() {
    if let socket = unsafe sessionSocket { unsafe sipsess_close_all(socket) }
    unsafe sessionSocket = OpaquePointer(mem_deref(UnsafeMutableRawPointer(sessionSocket)))
    unsafe eventSocket = OpaquePointer(mem_deref(UnsafeMutableRawPointer(eventSocket)))
    if let sip = unsafe sip {
      unsafe sip_close(sip, true)
      // A subscription may hold it for some seconds more: nothing is to come to this stack then.
      unsafe sip_transp_flush(sip)
      unsafe sip_set_trace_handler(sip, nil)
    }
    unsafe sip = OpaquePointer(mem_deref(UnsafeMutableRawPointer(sip)))
  }

  /// Refuses a request outside of sessions without keeping any state.
  ///
  /// A retransmitted request is refused again, and a flood takes no memory.
  @unsafe
  func refuse(
    _ message: UnsafePointer<sip_msg>,
    _ code: UInt16,
    _ reason: String,
    headers: String = ""
  ) {
    _ = unsafe re_refuse(sip, message, code, reason, headers)
  }

  // MARK: What libre calls

  @unsafe
  private static func from(_ context: UnsafeMutableRawPointer?) -> SIPStack? {
    unsafe context.map { unsafe Unmanaged<SIPStack>.fromOpaque($0).takeUnretainedValue() }
  }

  private func didClose() {
    isClosed = true
    agent.assumeIsolated { $0.stackDidClose() }
  }

  // A request that names a call, but does not come from its far side, gets no answer, nor does one
  // whose answer would go to a third host. One that is not in order is refused.
  @unsafe
  private func drops(_ message: UnsafePointer<sip_msg>?) -> Bool {
    guard let message = unsafe message else { return false }
    nonisolated(unsafe) let request = unsafe message
    nonisolated(unsafe) let stack = self
    let isForged = agent.assumeIsolated { unsafe $0.isForged(request, over: stack) }
    if unsafe isForged || re_answers_elsewhere(message) { return true }
    let check = unsafe RequestCheck(message)
    guard let refusal = check.refusal else {
      if check.method == "INVITE", check.ignoresBody { unsafe re_skip_body(message) }
      let isAnswered = agent.assumeIsolated { unsafe $0.gotEarly(request, over: stack) }
      return unsafe isAnswered || takesNotice(of: message) || dropsLate(message)
    }
    if unsafe mayAnswer(message) {
      unsafe refuse(message, refusal.code, refusal.phrase, headers: refusal.headers)
    }
    return true
  }

  // A request of a call that is not there: libre would answer each of them, and an INVITE for half
  // a minute, with a memory of it.
  @unsafe
  private func dropsLate(_ message: UnsafePointer<sip_msg>) -> Bool {
    let (tag, callID) = unsafe (String(message.pointee.to.tag), String(message.pointee.callid))
    let tagged = tag.isEmpty ? [] : ["INVITE", "REFER", "SUBSCRIBE"]
    let methods = ["BYE", "INFO", "NOTIFY"] + tagged
    let isOfCall = methods.contains { unsafe re_is_method(message, $0) != 0 }
    guard isOfCall, !hasCall(named: callID) else {
      return unsafe !tag.isEmpty && refusesSubscription(message)
    }
    guard unsafe mayAnswer(message) else { return true }
    guard unsafe re_is_method(message, "INVITE") != 0 else { return false }
    unsafe refuse(message, 481, "Call/Transaction Does Not Exist")
    return true
  }

  // A subscription in a call's dialog to anything but its transfers, as to the far side's keys.
  @unsafe
  private func refusesSubscription(_ message: UnsafePointer<sip_msg>) -> Bool {
    guard unsafe re_is_method(message, "SUBSCRIBE") != 0,
      let event = unsafe sip_msg_hdr(message, SIP_HDR_EVENT).map({ unsafe String($0.pointee.val) }),
      event.prefix(while: { !"; \t".contains($0) }).lowercased() != "refer"
    else { return false }
    let refusal = RequestCheck.refusal(ofUnwanted: "SUBSCRIBE", allowing: "")
    unsafe refuse(message, refusal.code, refusal.phrase, headers: refusal.headers)
    return true
  }

  // A second phone has answered a call that has been answered.
  @unsafe
  private func gotStray(_ message: UnsafePointer<sip_msg>?) {
    guard let message = unsafe message, unsafe (200..<300).contains(message.pointee.scode),
      unsafe String(message.pointee.cseq.met) == "INVITE"
    else { return }
    nonisolated(unsafe) let (stack, answer) = unsafe (self, message)
    agent.assumeIsolated { agent in
      let callID = unsafe String(answer.pointee.callid)
      unsafe agent.call(named: callID, over: stack, isIncoming: false)?.endFork(answer)
    }
  }

  // True for an UPDATE in the dialog of a call.
  @unsafe
  private func gotUpdate(_ message: UnsafePointer<sip_msg>) -> Bool {
    nonisolated(unsafe) let (stack, request) = unsafe (self, message)
    return agent.assumeIsolated { agent in
      unsafe agent.gotUpdate(request, over: stack)
    }
  }

  // True if a request that belongs to no call gets an answer.
  @unsafe
  private func mayAnswer(_ message: UnsafePointer<sip_msg>) -> Bool {
    let isByServer = unsafe origin(of: message) == .server
    return agent.assumeIsolated { $0.answers(isByServer: isByServer) }
  }

  private func hasCall(named callID: String) -> Bool {
    nonisolated(unsafe) let stack = self
    return agent.assumeIsolated { agent in
      agent.calls.values.contains { unsafe $0.stack === stack && $0.callID == callID }
    }
  }

  @unsafe
  private func lookEarly(_ bytes: UnsafePointer<UInt8>, _ length: Int, isSent: Bool) {
    var callID = [CChar](repeating: 0, count: 2_048)
    var found = [CChar](repeating: 0, count: 1_024)
    var sequence: UInt32 = 0
    let kind = unsafe re_look_early(
      isSent,
      bytes,
      length,
      &callID,
      callID.count,
      &found,
      found.count,
      &sequence
    )
    guard kind != RE_EARLY_NOTHING else { return }
    let (name, text, number) = (String(cStringBytes: callID), String(cStringBytes: found), sequence)
    nonisolated(unsafe) let stack = self
    agent.assumeIsolated { agent in
      for isIncoming in [true, false] {
        let call = unsafe agent.call(named: name, over: stack, isIncoming: isIncoming)
        switch kind {
        case RE_EARLY_CANCEL: if isIncoming { call?.noteCancel(text) }
        case RE_EARLY_ACK: call?.requests.noteAcknowledgement()
        case RE_EARLY_OFFER: call?.requests.noteOffer(number)
        default: call?.noteFinal(Int(text) ?? 500, of: number)
        }
      }
    }
  }

  @unsafe
  private func received(_ message: UnsafePointer<sip_msg>?) {
    guard let message = unsafe message else { return }
    nonisolated(unsafe) let (stack, request) = unsafe (self, message)
    agent.assumeIsolated { unsafe $0.received(request, on: stack) }
  }

  // A notice of waiting messages that was not subscribed to, as many servers send (RFC 6665 section
  // 4.1.2.4 leaves that to configuration).
  @unsafe
  private func takesNotice(of message: UnsafePointer<sip_msg>) -> Bool {
    guard let account, unsafe re_is_method(message, "NOTIFY") != 0,
      unsafe message.pointee.to.tag.l == 0, unsafe origin(of: message) != .elsewhere
    else { return false }
    let count = unsafe Int(re_waiting_messages(message))
    guard count >= 0 else { return false }
    _ = unsafe re_reply(sip, message, 200, "OK")
    agent.assumeIsolated { $0.line(of: account.address)?.noteMessages(count) }
    return true
  }

  @unsafe
  private func answer(_ message: UnsafePointer<sip_msg>?) -> Bool {
    guard let message = unsafe message else { return false }
    let (tag, callID) = unsafe (String(message.pointee.to.tag), String(message.pointee.callid))
    let isOfCall = !tag.isEmpty && hasCall(named: callID)
    if unsafe re_is_method(message, "ACK") != 0 { return true }
    guard unsafe isOfCall || mayAnswer(message) else { return true }
    if unsafe re_is_method(message, "OPTIONS") != 0 {
      // Of a call that is over, or that a program before this one had.
      guard tag.isEmpty || isOfCall else {
        unsafe refuse(message, 481, "Call/Transaction Does Not Exist")
        return true
      }
      _ = unsafe re_reply_options(sip, message)
      return true
    }
    if unsafe re_is_method(message, "UPDATE") != 0, unsafe gotUpdate(message) { return true }
    let refusal = unsafe RequestCheck.refusal(
      ofUnwanted: String(message.pointee.met),
      allowing: String(cString: re_methods())
    )
    unsafe refuse(message, refusal.code, refusal.phrase, headers: refusal.headers)
    return true
  }
}
