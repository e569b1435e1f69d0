import CLibre
import CallSecurity
import Glibc
import ICE
import MediaCore
import RealTime
import UDPTransport

/// A relayed address at a TURN server, for voice when no other path is open (RFC 8656).
///
/// libre's client allocates and refreshes it. The voice thread does not notice the relay: it sends
/// to a port of the client's on this machine, and receives from there.
///
/// **Thread safety:** the event loop's thread only; libre's callbacks run there too. **Ownership:**
/// the path owns it; libre holds unretained pointers to it, which `close` takes back.
@safe
final class RelayClient {
  enum Event {
    /// The server has allocated this address.
    case allocated(SocketAddress)
    /// The server allocates no address, or has released it, for the given reason.
    case failed(String)
    /// A connectivity check has arrived from a far side.
    case received([UInt8], from: SocketAddress)
  }

  private let server: RelayServer
  private let report: (Event) -> Void
  /// The call's RTP port, at an address by which this machine reaches itself.
  private let voicePort: SocketAddress
  /// The client's port on this machine that the voice thread sends to; nil before `open`.
  private(set) var bridge: SocketAddress?
  /// The far side that the voice is relayed to; nil while the voice takes another path.
  var farSide: SocketAddress?
  /// Requests for an address that may still be answered, oldest first; before them the one that has
  /// got the address.
  private var requests: [AllocationRequest] = []
  private var connection: OpaquePointer?
  private var secured: OpaquePointer?
  private var context: OpaquePointer?
  private var voice: OpaquePointer?
  private var trust: ServerTrust?
  private var address = sa()
  /// Bytes from the connection that do not make up a whole message yet.
  private var pending: [UInt8] = []
  private var isAllocated = false
  private let retryTimer = LoopTimer()
  private let dropTimer = LoopTimer()
  private var attempts = 0
  private var isOver = false

  /// Number of requests by UDP, each from another port and after `patience` without an address by
  /// those before: libre waits longer before each repetition, and losses come in bursts.
  private static let attemptLimit = 5
  private static let patience: Int64 = 2_000_000_000

  /// Maximum of `pending` in bytes; no TURN message is longer.
  private static let pendingLimit = 1 << 16

  init(
    _ server: RelayServer,
    voicePort: SocketAddress,
    _ report: @escaping (Event) -> Void
  ) {
    self.server = server
    self.voicePort = voicePort
    self.report = report
  }

  private var pointer: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

  @unsafe
  private static func from(_ pointer: UnsafeMutableRawPointer?) -> RelayClient? {
    unsafe pointer.map { unsafe Unmanaged<RelayClient>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Requests an address from the server at a numeric address; `identity` is required for TLS.
  func open(at numericHost: String, identity: Identity?) {
    guard let address = SocketAddress(host: numericHost, port: server.port)?.inLibre,
      var local = SocketAddress(host: voicePort.host, port: 0)?.inLibre
    else { return fail("it has no address") }
    self.address = address
    var code = unsafe re_relay_socket(
      &voice,
      &local,
      { unsafe RelayClient.from($2)?.gotVoice($1, from: $0) },
      pointer
    )
    if code == 0 { code = unsafe udp_local_get(voice, &local) }
    bridge = unsafe SocketAddress(libre: &local)
    if code == 0 {
      code = server.transport == .udp ? listen() : connect(identity)
    }
    if code != 0 { fail(SIPError.text(code)) }
  }

  func close() {
    isOver = true
    retryTimer.cancel()
    for request in requests { request.release() }
    requests = []
    unsafe secured = OpaquePointer(mem_deref(UnsafeMutableRawPointer(secured)))
    unsafe connection = OpaquePointer(mem_deref(UnsafeMutableRawPointer(connection)))
    unsafe context = OpaquePointer(mem_deref(UnsafeMutableRawPointer(context)))
    unsafe voice = OpaquePointer(mem_deref(UnsafeMutableRawPointer(voice)))
  }

  private func fail(_ reason: String) {
    guard !isOver else { return }
    isOver = true
    report(.failed("the relay \(server) is of no use: \(trust?.takeFailure() ?? reason)"))
  }

  // MARK: Connecting

  private func listen() -> CInt {
    attempts += 1
    if attempts < Self.attemptLimit {
      let time = MonotonicClock.now().advanced(byNanoseconds: Self.patience)
      retryTimer.start(for: time) { [weak self] in self?.retry() }
    }
    let request = AllocationRequest(self)
    requests.append(request)
    let code = unsafe re_relay_socket(
      &request.socket,
      nil,
      { unsafe AllocationRequest.from($2)?.owner.gotDatagram($1, from: $0) },
      request.pointer
    )
    return code == 0
      ? unsafe allocate(CInt(IPPROTO_UDP), UnsafeMutableRawPointer(request.socket), by: request)
      : code
  }

  // The ones before go on: the server may have an address for them, and not for another one.
  private func retry() {
    guard !isOver, !isAllocated else { return }
    if listen() != 0 { requests.removeLast().release() }
  }

  private func connect(_ identity: Identity?) -> CInt {
    if server.transport == .tls {
      guard let identity else { return EACCES }
      let trust = ServerTrust(server.host, certificate: nil)
      self.trust = trust
      do throws(SIPStack.Failure) {
        unsafe context = try trust.makeContext(identity)
      } catch {
        return error.code
      }
    }
    let code = unsafe tcp_connect(
      &connection,
      &address,
      { unsafe RelayClient.from($0)?.connected() },
      { unsafe RelayClient.from($1)?.gotBytes($0) },
      { unsafe RelayClient.from($1)?.gotClosed($0) },
      pointer
    )
    guard code == 0, server.transport == .tls else { return code }
    return unsafe tls_start_tcp(&secured, context, connection, 0)
  }

  private func connected() {
    guard !isOver else { return }
    let request = AllocationRequest(self)
    requests.append(request)
    let code = unsafe allocate(
      CInt(IPPROTO_TCP),
      UnsafeMutableRawPointer(connection),
      by: request
    )
    if code != 0 { fail(SIPError.text(code)) }
  }

  // Requests are sent after 0, 100, 300, 700 and 1,500 ms, in the two seconds for which an offer
  // waits, and then on for as long as libre does by itself: refreshes outlive an outage.
  private static let repetitions = stun_conf(rto: 100, rc: 9, rm: 140, ti: 39_500, tos: 0)

  private func allocate(
    _ transport: CInt,
    _ carrier: UnsafeMutableRawPointer?,
    by request: AllocationRequest
  ) -> CInt {
    var repetitions = Self.repetitions
    return unsafe turnc_alloc(
      &request.client,
      &repetitions,
      transport,
      carrier,
      0,
      &address,
      server.login,
      server.password,
      UInt32(TURN_DEFAULT_LIFETIME),
      {
        guard let request = unsafe AllocationRequest.from($6) else { return }
        unsafe request.owner.gotAnswer(to: request, $0, $1, $2, $3)
      },
      request.pointer
    )
  }

  // A request is released after the callback, in which libre still uses it.
  private func drop(_ request: AllocationRequest) {
    requests.removeAll { $0 === request }
    dropTimer.start(for: MonotonicClock.now()) { request.release() }
  }

  private func gotAnswer(
    to request: AllocationRequest,
    _ code: CInt,
    _ status: UInt16,
    _ reason: UnsafePointer<CChar>?,
    _ relayed: UnsafePointer<sa>?
  ) {
    guard !isOver else { return }
    if code == 0, status == 0, let address = unsafe SocketAddress(libre: relayed) {
      guard !isAllocated else { return request === requests.first ? () : drop(request) }
      isAllocated = true
      // Others go on until their answer, so that the server learns that their address is free.
      requests.removeAll { $0 === request }
      requests.insert(request, at: 0)
      return report(.allocated(address))
    }
    if requests.count > 1, request !== requests.first || !isAllocated { return drop(request) }
    // It relays, but not to each address: private ones, for example, may be forbidden. That it has
    // gone is noticed by the checks.
    if isAllocated, status != 437 { return }
    let phrase = unsafe reason.map { unsafe String(cString: $0) } ?? ""
    switch status {
    case 0: fail(code == ETIMEDOUT ? "it does not answer" : SIPError.text(code))
    case 401: fail("it does not accept the login \"\(server.login)\" and its password")
    case 437: fail("it has given the address away")
    case 441: fail("another login has its address")
    case 486: fail("the login \"\(server.login)\" has as many relayed calls as it may have")
    case 508: fail("it has no address left")
    default: fail("\(status) \(phrase)")
    }
  }

  private func gotClosed(_ code: CInt) {
    fail(code == 0 ? "it has closed the connection" : "no connection: \(SIPError.text(code))")
  }

  // MARK: Sending

  /// Sends a message to a far side; its buffer has room for headers in front of the message.
  @unsafe
  func send(_ message: UnsafeMutablePointer<mbuf>?, to address: SocketAddress) {
    guard let request = requests.first, let client = unsafe request.client,
      var peer = address.inLibre
    else { return }
    // What comes from there is let through from now on.
    unsafe turnc_add_chan(client, &peer, nil, nil)
    if server.transport == .udp {
      // The client is a layer of the socket's, which puts what it sends into messages of TURN.
      unsafe udp_send(request.socket, &peer, message)
    } else {
      unsafe turnc_send(client, &peer, message)
    }
  }

  private func gotVoice(_ message: UnsafeMutablePointer<mbuf>?, from source: UnsafePointer<sa>?) {
    guard let farSide, unsafe SocketAddress(libre: source) == voicePort else { return }
    unsafe send(message, to: farSide)
  }

  // MARK: Receiving

  // libre has taken the server's own messages out, and put the far side's address in place.
  private func gotDatagram(
    _ message: UnsafeMutablePointer<mbuf>?,
    from source: UnsafePointer<sa>?
  ) {
    guard let peer = unsafe SocketAddress(libre: source),
      let server = unsafe SocketAddress(libre: &address), peer != server
    else { return }
    unsafe deliver(message, from: peer)
  }

  @unsafe
  private func deliver(_ message: UnsafeMutablePointer<mbuf>?, from peer: SocketAddress) {
    let length = unsafe mbuf_get_left(message)
    guard length > 0, let start = unsafe mbuf_buf(message) else { return }
    if unsafe MediaSocket.isCheck(firstByte: start[0]) {
      let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: length))
      return report(.received(bytes, from: peer))
    }
    guard peer == farSide, var port = voicePort.inLibre else { return }
    unsafe udp_send(voice, &port, message)
  }

  private func gotBytes(_ message: UnsafeMutablePointer<mbuf>?) {
    let length = unsafe mbuf_get_left(message)
    guard !isOver, length > 0, let start = unsafe mbuf_buf(message) else { return }
    pending += unsafe Array(UnsafeBufferPointer(start: start, count: length))
    while !isOver {
      let frame = unsafe re_relay_frame(pending, pending.count)
      guard frame > 0, frame <= pending.count else { break }
      // Channel data ends before its padding (RFC 8656 section 12.5).
      let isChannel = pending[0] & 0xC0 != 0
      let length = isChannel ? 4 + Int(pending[2]) << 8 + Int(pending[3]) : frame
      let buffer = unsafe re_relay_buffer(pending, length)
      pending.removeFirst(frame)
      var source = sa()
      if unsafe turnc_recv(requests.first?.client, &source, buffer) == 0,
        let peer = unsafe SocketAddress(libre: &source)
      {
        unsafe deliver(buffer, from: peer)
      }
      _ = unsafe mem_deref(buffer)
    }
    if pending.count > Self.pendingLimit { fail("what it sends is no TURN") }
  }
}

/// A request for a relayed address, with the port of this machine that it is sent from by UDP.
///
/// **Thread safety:** the event loop's thread only; libre's callbacks run there too. **Ownership:**
/// `RelayClient` owns it; libre holds unretained pointers to it, which `release` takes back.
@safe
private final class AllocationRequest {
  unowned let owner: RelayClient
  var client: OpaquePointer?
  var socket: OpaquePointer?

  init(_ owner: RelayClient) { self.owner = owner }

  deinit {
    release()
  }

  var pointer: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

  @unsafe
  static func from(_ pointer: UnsafeMutableRawPointer?) -> AllocationRequest? {
    unsafe pointer.map { unsafe Unmanaged<AllocationRequest>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Ends the request; a server that has allocated an address learns that it is free.
  func release() {
    unsafe client = OpaquePointer(mem_deref(UnsafeMutableRawPointer(client)))
    unsafe socket = OpaquePointer(mem_deref(UnsafeMutableRawPointer(socket)))
  }
}
