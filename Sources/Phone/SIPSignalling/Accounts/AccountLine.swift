import CallSecurity
import CLibre
import DigestAuthentication
import Foundation
import Glibc
import MediaCore
import RealTime
import UDPTransport

/// One account of a user agent: its connection, its registration, and requests through its server.
///
/// `Registration` decides; the line queries the DNS and sends what `Registration` orders.
///
/// **Thread safety:** the event loop's thread only; libre's callbacks run there too. **Ownership:**
/// the agent owns it; libre holds an unretained pointer to it, which `release` takes back.
@safe
final class AccountLine {
  /// One REGISTER with the answers to its challenges.
  private struct Exchange {
    /// Requested duration of the registration in seconds; 0 to end it.
    var seconds = 0
    var challenges = 0
    /// True if the first request answers an earlier challenge, which the server may have forgotten.
    var isRemembered = false
    /// True if the last challenge asked for a digest that is not known here.
    var isDigestUnknown = false

    /// Maximum number of challenges: one for the password, and one for a nonce that became stale.
    static let challengeLimit = 2
  }

  let account: SIPAccount
  /// The stack that carries the account's messages; nil before a server was found.
  private(set) var stack: SIPStack?
  /// True once the registration has ended at the server, or the agent need not wait for that.
  private(set) var hasLeft = false
  private unowned let agent: UserAgent
  private let names: OpaquePointer?
  private let identity: Identity
  private let trust: ServerTrust
  private var tls: OpaquePointer?
  private var registration: Registration
  private let request = LibreSlot()
  /// Watch on the connection to the server, which notices its end.
  private let lifeline = LibreSlot()
  private lazy var messages = MessageWatch { [weak self] count in
    guard let self else { return }
    report(.messagesWaiting(account.address, count: count))
  }
  private var messageTimer: Task<Void, Never>?
  /// True if a new connection is to be made though the server is the same.
  private var isConnectionOld = false
  private var authentication: OpaquePointer?
  /// Terms of its server's challenge; nil before one.
  private(set) var terms: DigestTerms?
  private var exchange = Exchange()
  private var sequence: UInt32 = 0
  /// Headers that are the same in all REGISTER requests (RFC 3261 section 10.2.4).
  private let head: String
  private var ownAddress = sa()
  /// The registered contact address; nil if there is none.
  private var registeredAddress: sa?
  /// Instance ID, by which a server recognizes this program at any address (RFC 5626 section 4.2);
  /// another program on this machine has another one.
  private let instance: String
  private var server: SIPServer?
  /// Address that this machine has moved to while there is no stack at it yet; nil otherwise.
  private var movedTo: String?
  /// Route of later requests: the server, or what it named by `Service-Route` (RFC 3608).
  private(set) var routes: [String] = []
  private var timer: Task<Void, Never>?
  private var keepalive: Task<Void, Never>?
  private var search: Task<Void, Never>?

  /// Pause between keepalives: the strictest routers forget a translation after 30 s of silence.
  private static let keepalivePause = Duration.seconds(25)
  /// The longest pause that the server accepts, in seconds (RFC 5626 section 4.4); nil for any.
  private var flowTimer: Int?

  /// Maximum number of proxies in `routes`.
  private static let routeLimit = 8

  /// Creates a line that does nothing yet; `names` is libre's DNS client.
  @unsafe
  init(_ account: SIPAccount, identity: Identity, names: OpaquePointer?, agent: UserAgent) {
    self.account = account
    self.identity = identity
    trust = ServerTrust(account.serverName, certificate: account.certificate)
    unsafe self.names = names
    self.agent = agent
    registration = Registration(expires: account.expires, seed: .random(in: 1...UInt64.max))
    instance = "<urn:uuid:\(UUID().uuidString.lowercased())>"
    let tag = String(UInt64.random(in: 1...UInt64.max), radix: 36)
    let callID = String(UInt64.random(in: 1...UInt64.max), radix: 36)
    head =
      "To: <\(account.address)>\r\nFrom: <\(account.address)>;tag=\(tag)\r\n"
      + "Call-ID: \(callID)\r\n"
      + "Allow: \(unsafe String(cString: re_methods()))\r\n"
  }

  private var context: UnsafeMutableRawPointer {
    unsafe Unmanaged.passUnretained(self).toOpaque()
  }

  @unsafe
  private static func from(_ context: UnsafeMutableRawPointer?) -> AccountLine? {
    unsafe context.map { unsafe Unmanaged<AccountLine>.fromOpaque($0).takeUnretainedValue() }
  }

  // MARK: Events

  /// Passes an event to `registration` and performs the effects.
  func handle(_ event: Registration.Event) {
    for effect in registration.handle(event, at: MonotonicClock.now()) { perform(effect) }
    schedule()
  }

  private func schedule() {
    timer?.cancel()
    guard let deadline = registration.deadline else { return }
    let pause = max(0, deadline.nanoseconds(since: MonotonicClock.now()))
    timer = Task { [weak agent, account] in
      // A cancelled sleep ends early, and so does its task.
      try? await Task.sleep(for: .nanoseconds(pause))
      guard !Task.isCancelled else { return }
      await agent?.handle(.timePassed, of: account)
    }
  }

  private func perform(_ effect: Registration.Effect) {
    switch effect {
    case .locate:
      locate()
    case .register(let server, let seconds):
      register(with: server, for: seconds)
    case .unregister:
      begin(seconds: 0)
    case .report(let state):
      if case .registered = state {} else { keepalive?.cancel() }
      report(.registration(account.address, state))
    }
  }

  private func report(_ event: SIPEvent) {
    agent.assumeIsolated { $0.report(event) }
  }

  private func note(_ step: String) {
    report(.accountStep(account.address, step))
  }

  /// Ends the registration at the server, and all other activity but the stack.
  func leave() {
    messageTimer?.cancel()
    messages.clear()
    search?.cancel()
    keepalive?.cancel()
    handle(.stopped)
    if request.isEmpty { hasLeft = true }
  }

  /// Closes at once.
  func release() {
    timer?.cancel()
    search?.cancel()
    keepalive?.cancel()
    request.clear()
    lifeline.clear()
    messages.clear()
    messageTimer?.cancel()
    unsafe authentication = OpaquePointer(mem_deref(UnsafeMutableRawPointer(authentication)))
    stack?.release()
    stack = nil
    unsafe tls = OpaquePointer(mem_deref(UnsafeMutableRawPointer(tls)))
  }

  // MARK: Locating

  private func locate() {
    search?.cancel()
    search = Task { [agent, account] in await agent.locate(for: account) }
  }

  func found(_ servers: [SIPServer]) {
    note(
      servers.isEmpty
        ? "\(account.serverName) has no address"
        : "servers: " + servers.map(\.description).joined(separator: ", ")
    )
    // An address that has just come may not reach the name servers yet.
    if servers.isEmpty { movedTo = nil }
    handle(.located(servers))
  }

  // MARK: Registering

  private func register(with server: SIPServer, for seconds: Int) {
    do throws(SIPError) {
      try connect(to: server)
    } catch {
      note("\(error)")
      return handle(.unanswered(reason: "\(error)"))
    }
    note("REGISTER for \(account.address) to \(server)")
    _ = trust.takeFailure()
    begin(seconds: seconds)
  }

  // A stack at the address that leads to the server; the one before goes if the machine has moved.
  private func connect(to server: SIPServer) throws(SIPError) {
    guard let remote = SocketAddress(host: server.address, port: server.port),
      let host = MediaSocket.localAddress(towards: remote)
    else { throw SIPError.noWay(to: "\(server)") }
    self.server = server
    routes = [server.route]
    if let stack, stack.host == host, stack.server == server, !isConnectionOld { return }
    isConnectionOld = false
    movedTo = nil
    request.clear()
    lifeline.clear()
    do throws(SIPStack.Failure) {
      if let stack, stack.server == server {
        let hasMoved = stack.host != host
        // Until it is there.
        isConnectionOld = true
        try stack.move(to: host)
        isConnectionOld = false
        // The server sends NOTIFY to the old address; the registration subscribes anew.
        messages.clear()
        return moveCalls(of: stack, hasMoved: hasMoved)
      }
      messages.clear()
      if let stack { retire(stack) }
      stack = nil
      if server.transport == .tls, unsafe tls == nil {
        unsafe tls = try trust.makeContext(identity)
      }
      stack =
        unsafe try SIPStack(
          at: host,
          port: 0,
          names: names,
          tls: tls,
          user: account.user,
          agent: agent,
          of: account,
          at: server
        )
    } catch {
      throw SIPError.cannotListen(at: host, reason: SIPError.text(error.code))
    }
  }

  /// Registers anew if this machine now reaches the server from another of its addresses.
  func follow() {
    guard let server, let stack,
      let remote = SocketAddress(host: server.address, port: server.port),
      let host = MediaSocket.localAddress(towards: remote), host != stack.host, host != movedTo
    else { return }
    movedTo = host
    // Calls cannot wait for name servers; the registration is looked after below.
    if isInUse(stack) {
      do throws(SIPError) {
        try connect(to: server)
      } catch {
        note("\(error)")
      }
    }
    handle(.networkChanged)
  }

  /// Registers anew over a new connection, since the former one was forgotten or is gone.
  func reconnect(after event: Registration.Event) {
    guard event != .connectionLost || registration.isRegistered else { return }
    isConnectionOld = true
    handle(event)
  }

  /// Pause before the subscription to waiting messages, which is not urgent.
  private static let messagePause = Duration.seconds(1)

  private func watchMessages() {
    messageTimer?.cancel()
    guard !registration.isStopped else { return }
    messageTimer = Task { [weak agent, account] in
      // A cancelled sleep ends early, and so does its task.
      try? await Task.sleep(for: AccountLine.messagePause)
      guard !Task.isCancelled else { return }
      await agent?.watchMessages(of: account)
    }
  }

  func subscribeToMessages() {
    guard registration.isRegistered, let stack else { return }
    messages.begin(self, over: stack)
  }

  // What the server's answer came over: that it has gone is noticed at once if it says so, and else
  // by what keeps it alive.
  @unsafe
  private func watchConnection(of message: UnsafePointer<sip_msg>) {
    lifeline.clear()
    guard server?.transport != .udp else { return }
    unsafe re_watch_connection(
      lifeline.place,
      stack?.sip,
      message,
      { _, context in unsafe AccountLine.from(context)?.lostConnection() },
      context
    )
  }

  private func lostConnection() {
    guard !registration.isStopped else { return }
    note("the connection to the server has gone")
    // libre is in the middle of it.
    Task { [weak agent, account] in await agent?.connectionWasLost(of: account) }
  }

  private func moveCalls(of stack: SIPStack, hasMoved: Bool) {
    nonisolated(unsafe) let moved = stack
    agent.assumeIsolated { unsafe $0.moveCalls(of: moved, hasMoved: hasMoved) }
  }

  private func isInUse(_ stack: SIPStack) -> Bool {
    nonisolated(unsafe) let stack = stack
    return agent.assumeIsolated { unsafe $0.isInUse(stack) }
  }

  private func retire(_ stack: SIPStack) {
    nonisolated(unsafe) let old = stack
    agent.assumeIsolated { unsafe $0.retire(old) }
  }

  private func begin(seconds: Int) {
    exchange = Exchange(seconds: seconds)
    unsafe exchange.isRemembered = authentication != nil
    send()
  }

  private func send() {
    guard let server, let stack else { return }
    request.clear()
    if unsafe authentication == nil {
      let credentials = unsafe account.makeCredentials(on: nil)
      defer { _ = unsafe mem_deref(credentials) }
      _ = unsafe sip_auth_alloc(
        &authentication,
        { unsafe re_give_credentials($0, $1, $2, $3) },
        credentials,
        true
      )
    }
    sequence += 1
    let code = unsafe re_register(
      request.place,
      stack.sip,
      "sip:\(SocketAddress.literal(account.domain))",
      server.route,
      authentication,
      head + "Supported: path\(registration.usesOutbound ? ", outbound" : "")\r\n",
      sequence,
      UInt32(clamping: exchange.seconds),
      { transport, own, _, message, context in
        unsafe AccountLine.from(context)?.writeContact(to: message, own, transport) ?? ENOENT
      },
      { unsafe AccountLine.from($2)?.received($0, $1) },
      context
    )
    if code != 0 { unanswered(code) }
  }

  private func writeContact(
    to message: UnsafeMutablePointer<mbuf>?,
    _ own: UnsafePointer<sa>?,
    _ transport: sip_transp
  ) -> CInt {
    if let own = unsafe own { ownAddress = unsafe own.pointee }
    let parameters =
      (registration.usesOutbound ? ";reg-id=1" : "") + ";+sip.instance=\"\(instance)\""
    let code = unsafe re_write_contact(message, account.user, own, transport, parameters)
    // Where this machine is not any more, nothing is to ring.
    guard code == 0, var former = registeredAddress, exchange.seconds > 0,
      unsafe !sa_cmp(&former, &ownAddress, CInt(SA_ALL.rawValue))
    else { return code }
    return unsafe re_write_contact(message, account.user, &former, transport, ";expires=0")
  }

  // MARK: What libre calls

  private func unanswered(_ code: CInt) {
    if registration.isStopped { return hasLeft = true }
    let reason =
      trust.takeFailure()
      ?? (code == ETIMEDOUT ? "it does not answer" : "no connection: \(SIPError.text(code))")
    note(reason)
    handle(.unanswered(reason: reason))
  }

  private func received(_ code: CInt, _ message: UnsafePointer<sip_msg>?) {
    guard code == 0, let message = unsafe message else { return unanswered(code) }
    let status = unsafe Int(message.pointee.scode)
    guard status >= 200 else { return }
    let phrase = unsafe String(message.pointee.reason)
    note("\(status) \(phrase)")
    if [401, 407].contains(status), unsafe authenticate(for: message) { return send() }
    // A registration that was under way when this side stopped has to end as well.
    if registration.isStopped {
      guard status < 300, exchange.seconds > 0 else { return hasLeft = true }
      return begin(seconds: 0)
    }
    guard status < 300 else {
      // What it was refused with is not tried again.
      unsafe authentication = OpaquePointer(mem_deref(UnsafeMutableRawPointer(authentication)))
      let advice = unsafe Registration.Advice(message, isDigestUnknown: exchange.isDigestUnknown)
      // libre is in the middle of the connection that may have to be given up.
      Task { [weak agent, account] in
        await agent?.handle(
          .refused(code: status, phrase: phrase, advice: advice),
          of: account
        )
      }
      return
    }
    unsafe noteRoutes(in: message)
    let isTranslated = unsafe re_is_translated(message, &ownAddress)
    let named = unsafe re_registered_seconds(message, account.user, instance, &ownAddress)
    guard named != 0 else {
      return handle(.unanswered(reason: "it does not keep the registration"))
    }
    let granted = named < 0 ? exchange.seconds : Int(min(named, Int64(exchange.seconds)))
    registeredAddress = granted > 0 && exchange.seconds > 0 ? ownAddress : nil
    handle(.accepted(seconds: granted))
    // What it passes on by datagrams is limited like a known host's.
    if let server { agent.assumeIsolated { $0.noteCall(with: server.address) } }
    unsafe watchConnection(of: message)
    watchMessages()
    let header = unsafe sip_msg_xhdr(message, "Flow-Timer")
    flowTimer = unsafe header.flatMap { unsafe Int(String($0.pointee.val)) }
    if isTranslated || server?.transport != .udp || flowTimer != nil { keepAlive() }
  }

  // True if a challenge has an answer. A server may have forgotten the one of before, and say so as
  // if the password were wrong.
  @unsafe
  private func authenticate(for message: UnsafePointer<sip_msg>) -> Bool {
    exchange.challenges += 1
    guard exchange.challenges <= Exchange.challengeLimit else { return false }
    var realm = [CChar](repeating: 0, count: 128)
    unsafe re_challenge_realm(message, &realm, realm.count)
    var code = unsafe sip_auth_authenticate(authentication, message)
    if code != 0, exchange.isRemembered {
      unsafe sip_auth_reset(authentication)
      code = unsafe sip_auth_authenticate(authentication, message)
    }
    exchange.isRemembered = false
    let name = "\(account.login) (realm \"\(String(cStringBytes: realm))\")"
    if code == 0 { terms = unsafe digestTerms(of: authentication) }
    if code == 0 { note("the server asks for the password of \(name)") }
    exchange.isDigestUnknown = code == ENOSYS
    if code == ENOSYS { note("the server asks for a digest that is not known here") }
    return code == 0
  }

  /// Notes the number of waiting messages that the server has signalled.
  func noteMessages(_ count: Int) { messages.note(count) }

  @unsafe
  private func noteRoutes(in message: UnsafePointer<sip_msg>) {
    var text = [CChar](repeating: 0, count: 2_048)
    var found: [String] = []
    while found.count < Self.routeLimit,
      unsafe re_service_route(message, found.count, &text, text.count)
    {
      found.append(SIPAddress.route(String(cStringBytes: text)))
    }
    if !found.isEmpty { routes = found }
  }

  private func keepAlive() {
    keepalive?.cancel()
    // A little sooner than the server asks for.
    let asked = flowTimer.map { Duration.milliseconds(900 * max(2, min($0, 3_600))) }
    let pause = min(asked ?? Self.keepalivePause, Self.keepalivePause)
    keepalive = Task { [weak agent, account] in
      // A cancelled sleep ends early, and so does its task.
      try? await Task.sleep(for: pause)
      guard !Task.isCancelled else { return }
      await agent?.sendKeepalive(of: account)
    }
  }

  func sendKeepalive() {
    guard let server, let stack else { return }
    _ = unsafe re_send_keepalive(stack.sip, server.route, server.transport.inLibre)
    keepAlive()
  }
}
