public import CallSecurity
import CLibre
import Glibc
import MediaCore
import RealTime
import UDPTransport

/// A SIP user agent: it calls addresses and is called at its own (RFC 3261), and registers accounts
/// with their servers.
///
/// It also transfers calls (REFER, Replaces), answers UPDATE and INFO, and checks far sides by
/// OPTIONS; all by libre over UDP, TCP and TLS.
///
/// **Life cycle:** `start` binds; `stop` ends all calls and closes. **Thread safety:** an actor
/// that runs on libre's event loop; events come through `events`, which has one reader.
@safe
public actor UserAgent {
  /// The addresses and the name at which an agent is reached.
  public struct Configuration: Equatable, Sendable {
    /// Numeric addresses to listen at; empty for every address of the machine.
    package var hosts: [String]
    /// The port for UDP and TCP, 0 for one that the system chooses; TLS has the one after it.
    package var port: UInt16
    /// The user part of this side's address.
    package var user: String
    /// The display name.
    package var displayName: String?
    /// Limits on requests from strangers.
    public var limits = SignallingLimits.phone

    /// A configuration with the given fields.
    public init(hosts: [String], port: UInt16, user: String, displayName: String? = nil) {
      self.hosts = hosts
      self.port = port
      self.user = user
      self.displayName = displayName
    }
  }

  /// Events of the agent and its calls; for one reader.
  public nonisolated let events: AsyncStream<SIPEvent>

  let configuration: Configuration
  let continuation: AsyncStream<SIPEvent>.Continuation
  /// Stacks, one for each address that is listened at.
  var stacks: [SIPStack] = []
  /// libre's DNS client, for host names in messages and for accounts' servers; nil before `start`,
  /// or without name servers.
  private(set) var names: OpaquePointer?
  /// Former stacks of accounts that now use another server, kept while calls use them.
  var retired: [SIPStack] = []
  /// Accounts with their connections and registrations.
  var lines: [AccountLine] = []
  /// Paths of calls, and of calls that are being set up.
  var paths: [MediaPathID: MediaPath] = [:]
  var nextPath = 0
  /// DNS queries that are under way.
  var queries: [Int: NameQuery] = [:]
  var nextQuery = 0
  let network = NetworkWatch()
  /// Decides which calls may ring.
  var admission: CallAdmission
  private var addressWatch: Task<Void, Never>?
  /// Task that follows a changed network after `settlingPause` without further changes.
  var addressTimer: Task<Void, Never>?
  private(set) var calls: [Int: SIPCall] = [:]
  private var nextCallNumber = 1
  private var stopWaiters: [CheckedContinuation<Void, Never>] = []
  private(set) var isStopping = false
  /// Time until which `stop` waits for responses to calls that were cancelled.
  var lastFarewell = MonotonicInstant(nanoseconds: 0)
  private var encryption: EncryptionOffer?
  /// libre's context for TLS; nil without an identity.
  private var tls: OpaquePointer?

  /// libre's event loop.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe EventLoopThread.shared.asUnownedSerialExecutor()
  }

  /// Creates an agent that does not listen yet.
  public init(_ configuration: Configuration) {
    self.configuration = configuration
    admission = CallAdmission(configuration.limits, at: MonotonicClock.now())
    (events, continuation) = AsyncStream.makeStream()
  }

  // MARK: Life cycle

  /// Binds the addresses and returns them with the port in use, for display.
  ///
  /// If the configuration names no addresses, those that the machine gets later are bound as well
  /// (`SIPEvent.listening`).
  ///
  /// - Parameters:
  ///   - encryption: the encryption of answers, by which callers' offers are checked.
  ///   - identity: the certificate for TLS; nil to use no TLS.
  /// - Returns: the addresses with their ports.
  /// - Throws: a `SIPError` if an address or port cannot be bound, or libre cannot be guarded.
  public func start(
    offering encryption: EncryptionOffer? = nil,
    securing identity: Identity? = nil
  ) throws(SIPError) -> [String] {
    try LibreProof.check()
    self.encryption = encryption
    if let identity { try makeContext(identity) }
    // Without one, numeric addresses do.
    _ = unsafe re_name_client(&names)
    for host in isEverywhere ? Self.localHosts() : configuration.hosts {
      do throws(SIPStack.Failure) {
        try listen(at: host)
      } catch {
        // An address that is just being made ready comes later.
        if isEverywhere, error.code == EADDRNOTAVAIL { continue }
        release()
        throw Self.error(error, at: host)
      }
    }
    watchNetwork()
    addressWatch = Task { [weak self] in
      while !Task.isCancelled {
        // A cancelled sleep ends early, and so does the loop.
        try? await Task.sleep(for: Self.addressPause)
        guard let self else { return }
        await self.followNetwork()
      }
    }
    return stacks.map(\.address)
  }

  private func makeContext(_ identity: Identity) throws(SIPError) {
    let code = unsafe re_tls_alloc(
      &tls,
      identity.pem,
      identity.pem.count,
      { _, isServer, token, fingerprint, error in
        guard let shown = unsafe Fingerprint(ofHash: fingerprint) else { return 0 }
        let isAccepted = TLSExpectations.judge(
          isServer: isServer != 0,
          token: unsafe token.map { unsafe String(cString: $0) },
          shown,
          isTrusted: error == 0
        )
        return isAccepted ? 1 : 0
      },
      nil
    )
    guard code == 0 else {
      throw .unusableLibrary("cannot prepare TLS: \(SIPError.text(code))")
    }
  }

  /// Interval at which the network is checked without a notification.
  static let addressPause = Duration.seconds(1)
  /// Time without further changes after which a changed network is followed.
  static let settlingPause = Duration.milliseconds(50)

  private static func error(_ failure: SIPStack.Failure, at host: String) -> SIPError {
    let text = SIPError.text(failure.code)
    guard let transport = failure.transport else {
      return .unusableLibrary("cannot start SIP: \(text)")
    }
    let name = transport.rawValue.uppercased()
    return .cannotListen(at: "\(host):\(failure.port) (\(name))", reason: text)
  }

  func listen(at host: String) throws(SIPStack.Failure) {
    let stack =
      unsafe try SIPStack(
        at: host,
        port: configuration.port,
        names: names,
        tls: tls,
        user: configuration.user,
        agent: self
      )
    stacks.append(stack)
    if let failure = stack.secureFailure {
      continuation.yield(.notListeningSecurely("\(Self.error(failure, at: host))"))
    }
  }

  var isEverywhere: Bool { configuration.hosts.isEmpty }

  func isInUse(_ stack: SIPStack) -> Bool {
    calls.values.contains { $0.stack === stack }
  }

  // What leaves from an address leaves by its stack, else by one of the same family.
  func stack(at host: String) -> SIPStack? {
    let isV6 = host.contains(":")
    return stacks.first { $0.host == host }
      ?? stacks.first { $0.host.contains(":") == isV6 } ?? stacks.first
  }

  /// Ends all registrations and calls, and closes.
  ///
  /// Waits up to a second for the servers and up to another one for the far sides to confirm, but
  /// up to 5 s after the last outgoing call that was cancelled.
  public func stop() async {
    guard !isStopping else { return }
    isStopping = true
    addressWatch?.cancel()
    addressTimer?.cancel()
    guard !stacks.isEmpty else {
      release()
      return continuation.finish()
    }
    for call in calls.values {
      noteFarewell(to: call)
      call.hangUp()
    }
    calls.removeAll()
    closePaths()
    await leaveAccounts()
    // Sessions that are being ended hold libre's stack; the last of them closes it.
    for stack in allStacks { stack.close() }
    let farewell = lastFarewell.nanoseconds(since: MonotonicClock.now())
    let deadline = Task {
      // A cancelled sleep ends early, and the wait with it.
      try? await Task.sleep(for: max(.seconds(1), .nanoseconds(farewell)))
      self.endWaiting()
    }
    if !isClosed { await withCheckedContinuation { stopWaiters.append($0) } }
    deadline.cancel()
    release()
    continuation.finish()
  }

  private var allStacks: [SIPStack] { stacks + retired + lines.compactMap(\.stack) }

  private var isClosed: Bool { allStacks.allSatisfy(\.isClosed) }

  var isRunning: Bool { !stacks.isEmpty && !isStopping }

  func stackDidClose() {
    if isClosed { endWaiting() }
  }

  private func endWaiting() {
    for waiter in stopWaiters { waiter.resume() }
    stopWaiters.removeAll()
  }

  private func release() {
    if network.fileDescriptor >= 0 { fd_close(network.fileDescriptor) }
    for call in calls.values { call.hangUp() }
    calls.removeAll()
    closePaths()
    releaseAccounts()
    for stack in stacks + retired { stack.release() }
    (stacks, retired) = ([], [])
    unsafe names = OpaquePointer(mem_deref(UnsafeMutableRawPointer(names)))
    unsafe tls = OpaquePointer(mem_deref(UnsafeMutableRawPointer(tls)))
  }

  // MARK: Calls

  /// Sends an INVITE to `uri`, for example `sip:bob@192.168.1.20`, from the address in `offer`.
  public func invite(_ uri: String, offer: MediaOffer) throws(SIPError) -> SIPCallID {
    try invite(uri, offer: offer, expecting: nil)
  }

  /// Sends an INVITE to `uri`; over TLS, only to a far side that is `peer`.
  ///
  /// - Parameters:
  ///   - uri: the URI of the far side, with a numeric host.
  ///   - offer: the media.
  ///   - peer: the far side that TLS must lead to; if it has a host name, the system's authorities
  ///     may vouch for it as well.
  ///   - target: the target of the transfer that this call is for; nil for none.
  /// - Returns: the call's identifier.
  /// - Throws: a `SIPError` if the INVITE cannot be sent.
  package func invite(
    _ uri: String,
    offer: MediaOffer,
    expecting peer: SecurePeer?,
    target: TransferTarget? = nil
  ) throws(SIPError) -> SIPCallID {
    if isEverywhere, !stacks.contains(where: { $0.host == offer.host }) { followAddresses() }
    let call = try makeCall(offer, to: uri, over: stack(at: offer.host))
    call.peer = peer
    let host = SocketAddress.literal(offer.host)
    try send(
      call,
      uri,
      from: "sip:\(configuration.user)@\(host)",
      configuration.user,
      target: target
    )
    if peer != nil { limitHandshake(of: call.id) }
    return call.id
  }

  /// Sends an INVITE to `uri` through the server of an account.
  ///
  /// - Returns: the call's identifier, and the transport to the server.
  /// - Throws: a `SIPError` if the INVITE cannot be sent.
  package func invite(
    _ uri: String,
    offer: MediaOffer,
    through account: String,
    target: TransferTarget? = nil
  ) throws(SIPError) -> (SIPCallID, SIPTransport) {
    guard let line = line(of: account), let stack = line.stack,
      let transport = stack.server?.transport
    else { throw SIPError.cannotCall(uri, reason: "\(account) has no connection to its server") }
    var offer = offer
    offer.encryption?.mayDescribeKeys = transport == .tls
    let call = try makeCall(offer, to: uri, over: stack)
    call.account = line.account
    try send(
      call,
      uri,
      from: line.account.address,
      line.account.user,
      line.routes,
      target: target
    )
    return (call.id, transport)
  }

  private func makeCall(
    _ offer: MediaOffer,
    to uri: String,
    over stack: SIPStack?
  ) throws(SIPError) -> SIPCall {
    guard let description = SessionDescription(offer) else {
      throw SIPError.cannotCall(uri, reason: "its media cannot be described")
    }
    let call = makeCall(description)
    call.stack = stack
    call.path = path(of: offer, for: call.id)
    return call
  }

  private func send(
    _ call: SIPCall,
    _ uri: String,
    from address: String,
    _ user: String,
    _ routes: [String] = [],
    target: TransferTarget?
  ) throws(SIPError) {
    let name = call.account?.displayName ?? configuration.displayName
    let code = call.invite(
      Invitation(
        uri: uri,
        from: address,
        name: name.map(Self.quotable),
        user: user,
        routes: routes,
        replaced: target?.replaced,
        referrer: target?.referrer
      )
    )
    guard code != 0 else { return }
    calls[call.id.rawValue] = nil
    throw SIPError.cannotCall(uri, reason: SIPError.text(code))
  }

  /// True while no response to an outgoing call has arrived.
  package func isUnheardOf(_ id: SIPCallID) -> Bool { calls[id.rawValue]?.isHeardOf == false }

  /// Answers an incoming call: 200 OK with an answer to its offer, or with an offer if it had none.
  ///
  /// Returns false if the caller has gone meanwhile, if the call is already answered, or if its
  /// offer cannot be accepted, so that the call is refused.
  public func answer(_ id: SIPCallID, offer: MediaOffer) -> Bool {
    guard let call = calls[id.rawValue] else { return false }
    call.path = path(of: offer, for: id)
    return call.answer(offer)
  }

  /// Refuses an incoming call: 486 busy, 603 declined, 480 not available.
  package func reject(_ id: SIPCallID, code: UInt16, phrase: String) {
    calls.removeValue(forKey: id.rawValue)?.reject(code: code, phrase: phrase)
  }

  /// Ends a call in any phase: CANCEL, BYE, or a refusal as `kind` says.
  public func hangUp(_ id: SIPCallID, as kind: SIPRefusal = .declined) {
    guard let call = calls.removeValue(forKey: id.rawValue) else { return }
    noteFarewell(to: call)
    call.hangUp(as: kind)
  }

  /// Holds a call by a re-INVITE with `inactive` SDP, or resumes it.
  public func setHeld(_ id: SIPCallID, _ isHeld: Bool) {
    calls[id.rawValue]?.setHeld(isHeld)
  }

  /// Asks the far side of an established call whether it is still there: if it turns out to be
  /// gone, the call ends.
  package func ask(_ id: SIPCallID) {
    calls[id.rawValue]?.ask()
  }

  /// Returns the call of a Call-ID, stack and direction: two legs in one process may share a
  /// Call-ID.
  func call(named callID: String, over stack: SIPStack, isIncoming: Bool) -> SIPCall? {
    calls.values.first {
      $0.isIncoming == isIncoming && $0.stack === stack && $0.callID == callID
    }
  }

  private func makeCall(_ description: SessionDescription?) -> SIPCall {
    let call = SIPCall(id: SIPCallID(rawValue: nextCallNumber), agent: self, description)
    nextCallNumber += 1
    calls[call.id.rawValue] = call
    return call
  }

  // MARK: What libre calls

  // The message lives for the length of the callback.
  @unsafe
  func received(_ message: UnsafePointer<sip_msg>, on stack: SIPStack) {
    guard !isStopping else {
      return unsafe stack.refuse(message, 503, "Service Unavailable")
    }
    let origin = unsafe stack.origin(of: message)
    let source = unsafe Self.host(of: message)
    guard unsafe admits(message, from: source, isByServer: origin == .server, on: stack) else {
      return
    }
    if unsafe SIPCall.isIntervalTooShort(message) {
      _ = unsafe re_refuse_interval(stack.sip, message, UInt32(SessionTimer.shortest))
      return
    }
    let (replaced, refusal) = unsafe replaced(by: message, over: stack)
    if let refusal { return unsafe stack.refuse(message, refusal.code, refusal.phrase) }
    guard unsafe canTakeOffer(of: message, at: stack.host, encryption) else {
      return unsafe stack.refuse(message, 488, "Not Acceptable Here", headers: Self.mediaWarning)
    }
    let call = makeCall(nil)
    call.stack = stack
    call.sourceHost = source
    // What comes from elsewhere is a call between machines, though it comes to the account's port.
    call.account = origin == .elsewhere ? nil : stack.account
    let isSecure = unsafe message.pointee.tp == SIP_TRANSP_TLS
    let code = unsafe call.ring(
      message,
      user: stack.account?.user ?? configuration.user,
      socket: stack.sessionSocket
    )
    guard code == 0 else {
      calls[call.id.rawValue] = nil
      return unsafe stack.refuse(message, 400, "Bad Request")
    }
    // What is sent to a caller later goes to whom his address names.
    let media = call.preview(encryption)
    if isSecure, call.account == nil {
      // Behind a proxy it is the proxy that later requests go to.
      let isDirect = unsafe sip_msg_hdr(message, SIP_HDR_RECORD_ROUTE) == nil
      call.peer = .caller(with: isDirect ? media?.encryption : nil)
    }
    let asserted = origin == .server ? unsafe Self.assertedParty(in: message) : nil
    let (callerAddress, name) = unsafe asserted ?? Self.caller(in: message)
    continuation.yield(
      .incoming(
        call.id,
        Caller(
          address: callerAddress,
          displayName: name.isEmpty ? nil : name,
          source: source,
          media: media,
          account: call.account?.address,
          isVouchedFor: asserted != nil,
          isKnown: admission.isKnown(source, isByServer: origin == .server),
          replaced: replaced
        )
      )
    )
  }

  // The message lives for the length of the callback.
  @unsafe
  func isForged(_ message: UnsafePointer<sip_msg>, over stack: SIPStack) -> Bool {
    calls.values.contains { unsafe $0.isForged(message, over: stack) }
  }

  /// The user part of this side's address.
  var user: String { configuration.user }

  func report(_ event: SIPEvent) {
    if case .ended(let id, _) = event { calls[id.rawValue] = nil }
    continuation.yield(event)
  }
}
