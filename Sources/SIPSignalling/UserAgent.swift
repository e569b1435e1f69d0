import CRe
import Glibc

/// A SIP user agent without a server: it calls addresses and is called at its own (RFC 3261).
///
/// INVITE, 180, 200, ACK, re-INVITE, CANCEL, BYE and OPTIONS over UDP and TCP, by libre.
///
/// **Life cycle:** `start` binds; `stop` ends all calls and closes. **Thread safety:** an actor that
/// runs on libre's event loop; events come through `events`, which has one reader.
@safe
public actor UserAgent {
  /// Where and as whom to be reached.
  public struct Configuration: Equatable, Sendable {
    /// Numeric addresses to listen at; empty for every address of the machine.
    public var hosts: [String]
    /// The port for UDP and TCP, 0 for one that the system chooses.
    public var port: UInt16
    /// The user part of this side's address.
    public var user: String
    /// The name to show.
    public var displayName: String?

    /// A configuration with the given fields.
    public init(hosts: [String], port: UInt16, user: String, displayName: String? = nil) {
      self.hosts = hosts
      self.port = port
      self.user = user
      self.displayName = displayName
    }
  }

  /// What happens to the calls.
  public nonisolated let events: AsyncStream<SIPEvent>

  private let configuration: Configuration
  private let continuation: AsyncStream<SIPEvent>.Continuation
  private var sip: OpaquePointer?
  private var sessionSocket: OpaquePointer?
  private var calls: [Int: SIPCall] = [:]
  private var nextCallNumber = 1
  private var stopWaiters: [CheckedContinuation<Void, Never>] = []
  private var isStopping = false
  private var isClosed = false

  /// libre's event loop.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe EventLoopThread.shared.asUnownedSerialExecutor()
  }

  /// An agent that listens nowhere yet.
  public init(_ configuration: Configuration) {
    self.configuration = configuration
    (events, continuation) = AsyncStream.makeStream()
  }

  // MARK: Life cycle

  /// Binds the addresses and returns them with the port in use, for people to be told.
  public func start() throws(SIPError) -> [String] {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    let code = unsafe sip_alloc(
      &sip,
      nil,
      32,
      32,
      32,
      "Sidetone",
      { unsafe UserAgent.from($0)?.didClose() },
      context
    )
    guard code == 0, let sip = unsafe sip else {
      throw SIPError(reason: "cannot start SIP: \(Self.text(code))")
    }
    let hosts = configuration.hosts.isEmpty ? Self.localHosts() : configuration.hosts
    var bound: [String] = []
    for host in hosts {
      for isTCP in [false, true] {
        let code = unsafe re_transport_add(sip, isTCP ? 1 : 0, host, configuration.port)
        guard code == 0 else {
          let port = configuration.port
          release()
          throw SIPError(
            reason: "cannot listen at \(host):\(port) (\(isTCP ? "TCP" : "UDP")): "
              + Self.text(code)
          )
        }
      }
      let port = unsafe re_transport_port(sip, 0, host)
      bound.append(host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)")
    }
    unsafe sipsess_listen(
      &sessionSocket,
      sip,
      32,
      { unsafe UserAgent.from($1)?.received($0) },
      context
    )
    unsafe sip_listen(
      nil,
      sip,
      true,
      { unsafe UserAgent.from($1)?.answerOptions($0) ?? false },
      context
    )
    return bound
  }

  /// Hangs up every call, waits up to a second for the far sides to confirm, and closes.
  public func stop() async {
    guard let sip = unsafe sip, !isStopping else { return }
    isStopping = true
    for call in calls.values { call.hangUp() }
    calls.removeAll()
    // Sessions that are being ended hold libre's stack; the last of them closes it.
    unsafe sip_close(sip, false)
    let deadline = Task {
      try? await Task.sleep(for: .seconds(1))
      self.didClose()
    }
    if !isClosed { await withCheckedContinuation { stopWaiters.append($0) } }
    deadline.cancel()
    release()
    continuation.finish()
  }

  private func didClose() {
    isClosed = true
    for waiter in stopWaiters { waiter.resume() }
    stopWaiters.removeAll()
  }

  private func release() {
    for call in calls.values { call.hangUp() }
    calls.removeAll()
    if let socket = unsafe sessionSocket { unsafe sipsess_close_all(socket) }
    unsafe sessionSocket = OpaquePointer(mem_deref(UnsafeMutableRawPointer(sessionSocket)))
    if let sip = unsafe sip { unsafe sip_close(sip, true) }
    unsafe sip = OpaquePointer(mem_deref(UnsafeMutableRawPointer(sip)))
  }

  // MARK: Calls

  /// Sends an INVITE to `uri`, for example `sip:bob@192.168.1.20`, from the address in `offer`.
  public func invite(_ uri: String, offer: MediaOffer) throws(SIPError) -> SIPCallID {
    guard let description = SessionDescription(offer) else {
      throw SIPError(reason: "cannot describe the media at \(offer.host):\(offer.port)")
    }
    let call = makeCall(description)
    let host = offer.host.contains(":") ? "[\(offer.host)]" : offer.host
    let code = unsafe call.invite(
      uri,
      from: "sip:\(configuration.user)@\(host)",
      name: configuration.displayName,
      user: configuration.user,
      socket: sessionSocket
    )
    guard code == 0 else {
      calls[call.id.rawValue] = nil
      throw SIPError(reason: "cannot call \(uri): \(Self.text(code))")
    }
    return call.id
  }

  /// Takes an incoming call: 200 OK with an answer to its offer, or with an offer if it had none.
  ///
  /// Returns false if the caller has gone meanwhile or has no codec in common; it is refused then.
  public func answer(_ id: SIPCallID, offer: MediaOffer) -> Bool {
    calls[id.rawValue]?.answer(offer) ?? false
  }

  /// Refuses an incoming call: 486 busy, 603 declined, 480 not available.
  public func reject(_ id: SIPCallID, code: UInt16, phrase: String) {
    calls.removeValue(forKey: id.rawValue)?.reject(code: code, phrase: phrase)
  }

  /// Ends a call in any phase: CANCEL, BYE or 603.
  public func hangUp(_ id: SIPCallID) {
    calls.removeValue(forKey: id.rawValue)?.hangUp()
  }

  /// Holds a call or resumes it: the far side is told that nothing will be sent or heard.
  public func setHeld(_ id: SIPCallID, _ isHeld: Bool) {
    calls[id.rawValue]?.setHeld(isHeld)
  }

  /// Sends a re-INVITE with the present description.
  public func renegotiate(_ id: SIPCallID) {
    calls[id.rawValue]?.renegotiate()
  }

  private func makeCall(_ description: SessionDescription?) -> SIPCall {
    let call = SIPCall(id: SIPCallID(rawValue: nextCallNumber), agent: self, description)
    nextCallNumber += 1
    calls[call.id.rawValue] = call
    return call
  }

  // MARK: What libre calls

  /// The agent behind a callback's argument, on whose executor the callback runs.
  @unsafe
  private nonisolated static func from(_ context: UnsafeMutableRawPointer?) -> Callback? {
    guard let context = unsafe context else { return nil }
    return Callback(
      agent: unsafe Unmanaged<UserAgent>.fromOpaque(context).takeUnretainedValue()
    )
  }

  /// Enters the actor from one of libre's callbacks.
  private struct Callback {
    let agent: UserAgent

    func didClose() {
      agent.assumeIsolated { $0.didClose() }
    }

    @unsafe
    func received(_ message: UnsafePointer<sip_msg>?) {
      let message = unsafe Message(pointer: message)
      agent.assumeIsolated { $0.received(message) }
    }

    @unsafe
    func answerOptions(_ message: UnsafePointer<sip_msg>?) -> Bool {
      let message = unsafe Message(pointer: message)
      return agent.assumeIsolated { $0.answerOptions(message) }
    }
  }

  // SAFETY: a message lives for the length of libre's callback, which runs on the actor's executor.
  @safe
  struct Message: @unchecked Sendable {
    let pointer: UnsafePointer<sip_msg>?
  }

  private func received(_ message: Message) {
    guard let pointer = unsafe message.pointer else { return }
    guard !isStopping else {
      _ = unsafe re_reply(sip, pointer, 503, "Service Unavailable")
      return
    }
    let call = makeCall(nil)
    guard unsafe call.ring(pointer, user: configuration.user, socket: sessionSocket) == 0 else {
      calls[call.id.rawValue] = nil
      _ = unsafe re_reply(sip, pointer, 400, "Bad Request")
      return
    }
    let from = unsafe pointer.pointee.from
    let name = unsafe String(from.dname)
    var source = [CChar](repeating: 0, count: 64)
    var address = unsafe pointer.pointee.src
    var port: UInt16 = 0
    _ = unsafe re_address_text(&address, &source, source.count, &port)
    continuation.yield(
      .incoming(
        call.id,
        from: unsafe String(from.auri),
        displayName: name.isEmpty ? nil : name,
        source: String(cStringBytes: source)
      )
    )
  }

  private func answerOptions(_ message: Message) -> Bool {
    guard let pointer = unsafe message.pointer, unsafe re_is_method(pointer, "OPTIONS") != 0 else {
      return false
    }
    return unsafe re_reply_options(sip, pointer) == 0
  }

  func report(_ event: SIPEvent) {
    if case .ended(let id, _) = event { calls[id.rawValue] = nil }
    continuation.yield(event)
  }

  // MARK: Helpers of libre's world

  private static func localHosts() -> [String] {
    final class Found {
      var hosts: [String] = []
      var loopback: [String] = []
    }
    let found = Found()
    let context = unsafe Unmanaged.passUnretained(found).toOpaque()
    _ = unsafe re_each_local_address(
      { host, isLoopback, context in
        guard let host = unsafe host, let context = unsafe context else { return false }
        let found = unsafe Unmanaged<Found>.fromOpaque(context).takeUnretainedValue()
        let text = unsafe String(cString: host)
        if isLoopback != 0 { found.loopback.append(text) } else { found.hosts.append(text) }
        return false
      },
      context
    )
    // The loopback address last: libre prefers the first of a family for what it sends itself.
    return found.hosts + found.loopback
  }

  private static func text(_ code: CInt) -> String {
    let text = unsafe strerror(code)
    return unsafe text.map { unsafe String(cString: $0) } ?? "error \(code)"
  }
}
