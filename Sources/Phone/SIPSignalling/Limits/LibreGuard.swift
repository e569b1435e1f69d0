package import CLibre
import Glibc
import MediaCore
import RealTime
import Synchronization

// libre reads messages of any form in a time that grows by the square of their length, takes every
// connection, never rests while one waits that there is no descriptor for, prints
// a line for every message that it cannot read, times by the wall clock, answers STUN requests at
// the SIP port, ends a call whose re-INVITE got 408, and sends nothing to SIPS URIs. These
// functions have the names of its own, or of the system's, so the dynamic linker binds libre's
// calls to them (ELF symbol interposition), and nothing of libre is changed.

private let connections = Mutex(ConnectionLimit())

// The function of that name that one of this program stands in for; nil if there is none.
@unsafe
func original(_ name: String) -> UnsafeMutableRawPointer? {
  // RTLD_NEXT, which Swift cannot import.
  unsafe dlsym(UnsafeMutableRawPointer(bitPattern: -1), name)
}

private typealias Acceptor =
  @convention(c) (
    UnsafeMutablePointer<OpaquePointer?>?,
    OpaquePointer?,
    (@convention(c) (UnsafeMutableRawPointer?) -> Void)?,
    (@convention(c) (UnsafeMutablePointer<mbuf>?, UnsafeMutableRawPointer?) -> Void)?,
    (@convention(c) (CInt, UnsafeMutableRawPointer?) -> Void)?,
    UnsafeMutableRawPointer?
  ) -> CInt

/// Replaces libre's function: accepts an incoming connection by it, and closes the connection if
/// there are too many (`ConnectionLimit`).
///
/// Runs on the event loop's thread. Returns 0, or an errno, for which libre closes the connection.
@c(tcp_accept)
package func acceptConnection(
  _ place: UnsafeMutablePointer<OpaquePointer?>?,
  _ socket: OpaquePointer?,
  _ established: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?,
  _ received: (@convention(c) (UnsafeMutablePointer<mbuf>?, UnsafeMutableRawPointer?) -> Void)?,
  _ closed: (@convention(c) (CInt, UnsafeMutableRawPointer?) -> Void)?,
  _ context: UnsafeMutableRawPointer?
) -> CInt {
  guard let next = unsafe original("tcp_accept"), let place = unsafe place else { return ENOSYS }
  // SAFETY: libre's own function has this type.
  let accept = unsafe unsafeBitCast(next, to: Acceptor.self)
  let code = unsafe accept(place, socket, established, received, closed, context)
  guard code == 0, let connection = unsafe peer(of: place.pointee) else { return code }
  let isAdmitted = connections.withLock {
    $0.admits(connection, at: MonotonicClock.now(), isOpen: isOpen)
  }
  guard !isAdmitted else {
    re_hasten(connection.descriptor)
    return 0
  }
  unsafe place.pointee = OpaquePointer(mem_deref(UnsafeMutableRawPointer(place.pointee)))
  return EMFILE
}

private typealias SystemAcceptor =
  @convention(c) (CInt, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> CInt

/// Descriptor in reserve for a connection when no other descriptor is left; negative if there is
/// none.
///
/// The connection may be a stranger's, which is accepted only to be closed, or one that a call's
/// request needs. Only the event loop's thread uses the descriptor, so it needs no lock.
private let spareDescriptor = Atomic<CInt>(-1)

/// The thread of libre's event loop; 0 before it runs.
private let eventLoop = Atomic<UInt>(0)

/// Applies the guards to the calling thread, which is about to run libre's event loop.
func guardEventLoop() {
  eventLoop.store(UInt(pthread_self()), ordering: .releasing)
  keepSpareDescriptor()
}

// Unless one is held back already.
private func keepSpareDescriptor() {
  guard spareDescriptor.load(ordering: .relaxed) < 0 else { return }
  spareDescriptor.store(unsafe open("/dev/null", O_RDONLY | O_CLOEXEC), ordering: .relaxed)
}

private func releaseSpareDescriptor() {
  let spare = spareDescriptor.exchange(-1, ordering: .relaxed)
  if spare >= 0 { close(spare) }
}

/// Runs `body`, which may use the descriptor in reserve if no other is left.
///
/// This helps with numeric addresses only: a name is looked up first, and its connection opened
/// later.
func lendingSpareDescriptor<Result>(_ body: () -> Result) -> Result {
  releaseSpareDescriptor()
  defer { keepSpareDescriptor() }
  return body()
}

/// Replaces the system's function: closes an incoming connection for which no descriptor is left.
///
/// libre would leave it waiting, and its event loop would find it again at once for as long as no
/// descriptor becomes free. On threads other than the event loop's this is the system's own
/// function.
@c(accept)
package func takeConnection(
  _ listener: CInt,
  _ address: UnsafeMutableRawPointer?,
  _ length: UnsafeMutableRawPointer?
) -> CInt {
  guard let next = unsafe original("accept") else {
    errno = ENOSYS
    return -1
  }
  // SAFETY: the system's own function has this type.
  let accept = unsafe unsafeBitCast(next, to: SystemAcceptor.self)
  let connection = unsafe accept(listener, address, length)
  guard eventLoop.load(ordering: .acquiring) == UInt(pthread_self()) else { return connection }
  guard connection < 0 else {
    keepSpareDescriptor()
    return connection
  }
  let code = errno
  if [EMFILE, ENFILE].contains(code) {
    releaseSpareDescriptor()
    let refused = accept(listener, nil, nil)
    if refused >= 0 { close(refused) }
    keepSpareDescriptor()
    // Another thread was faster, and the connection still waits.
    if refused < 0 { _ = poll(nil, 0, 20) }
  }
  errno = code
  return -1
}

/// Notes that there is a call with a host: strangers' connections do not keep it out.
func noteConnections(with host: String) {
  connections.withLock { $0.noteCall(with: host, at: MonotonicClock.now()) }
}

/// Replaces libre's function, by which all its timers run: returns the monotonic clock in
/// milliseconds.
///
/// libre's own reads the wall clock. Set forward by an hour, that would end every transaction and
/// every call with a session timer at once; set back, nothing would be sent again for an hour.
@c(tmr_jiffies)
package func monotonicMilliseconds() -> UInt64 {
  UInt64(max(0, MonotonicClock.now().nanoseconds) / 1_000_000)
}

private typealias Decoder =
  @convention(c) (
    UnsafeMutablePointer<UnsafeMutablePointer<sip_msg>?>?, UnsafeMutablePointer<mbuf>?
  )
  -> CInt

/// Replaces libre's function: passes on to it well-formed messages alone (`MessageForm`).
///
/// It gets all messages that arrive, by datagrams and connections, and this side's own requests.
/// Returns 0, `ENODATA` for a message that has not ended, or another errno.
@c(sip_msg_decode)
package func decodeMessage(
  _ place: UnsafeMutablePointer<UnsafeMutablePointer<sip_msg>?>?,
  _ buffer: UnsafeMutablePointer<mbuf>?
) -> CInt {
  guard let next = unsafe original("sip_msg_decode"), let bytes = unsafe mbuf_buf(buffer) else {
    return EINVAL
  }
  let available = unsafe mbuf_get_left(buffer)
  let number = UInt(bitPattern: bytes)
  // The headers, and what tells that there are too many.
  var head = unsafe ArraySlice(
    UnsafeBufferPointer(start: bytes, count: min(available, MessageForm.longestHead + 64))
  )
  if waitingMessages.withLock({ $0.isWaiting(number, head, available) }) { return ENODATA }
  for (place, letter) in HeaderNames.disguises(in: head) {
    head[place] = letter
    unsafe bytes[place] = letter
  }
  let form = MessageForm(head)
  guard form == .good else { return form == .unfinished ? ENODATA : EBADMSG }
  // SAFETY: libre's own function has this type.
  let decode = unsafe unsafeBitCast(next, to: Decoder.self)
  let code = unsafe decode(place, buffer)
  if code == 0, let message = unsafe place?.pointee, unsafe message.pointee.clen.p != nil {
    let body = unsafe mbuf_get_left(buffer)
    let missing = Int(unsafe pl_u32(&message.pointee.clen)) - body
    if missing > 0 {
      waitingMessages.withLock {
        $0.note(number, head.prefix(available - body), needed: available + missing)
      }
    }
  }
  return code
}

private let waitingMessages = Mutex(WaitingMessages())

private typealias LoopCheck =
  @convention(c) (UnsafeMutablePointer<sip_loopstate>?, UInt16) -> Bool

/// Replaces libre's function, which decides whether a request must not be repeated: forbids that
/// after 408 and class 3xx too.
///
/// libre would end a call whose re-INVITE got 408. A server answers so for a far side whose network
/// is away for a while. `OfferRetry` repeats the offer; other requests show whether the far side is
/// gone. libre would call the new address in a redirection at once, but that is for the user to
/// decide (`SIPEndReason.moved`).
@c(sip_request_loops)
package func isNotWorthRepeating(
  _ state: UnsafeMutablePointer<sip_loopstate>?,
  _ status: UInt16
) -> Bool {
  let isFinal = status == 408 || (300..<400).contains(status)
  guard let next = unsafe original("sip_request_loops") else { return isFinal }
  // SAFETY: libre's own function has this type.
  let loops = unsafe unsafeBitCast(next, to: LoopCheck.self)
  return unsafe loops(state, status) || isFinal
}

private typealias AddressDecoder =
  @convention(c) (UnsafeMutablePointer<uri>?, UnsafePointer<pl>?) -> CInt

/// Replaces libre's function, which libre calls for all addresses and routes: turns a `sips` URI
/// into a SIP one by TLS.
///
/// libre sends no request to a `sips` address: a far side behind a server that writes it into its
/// route, as Kamailio does, would get no ACK and no BYE. Returns 0 or an errno.
@c(uri_decode)
package func decodeAddress(
  _ place: UnsafeMutablePointer<uri>?,
  _ text: UnsafePointer<pl>?
) -> CInt {
  guard let next = unsafe original("uri_decode") else { return ENOSYS }
  // SAFETY: libre's own function has this type.
  let decode = unsafe unsafeBitCast(next, to: AddressDecoder.self)
  let code = unsafe decode(place, text)
  if code == 0, let place = unsafe place { unsafe re_uri_by_tls(place) }
  return code
}

/// Replaces libre's function: leaves STUN requests unanswered.
///
/// libre answers those that come to the SIP port, with twice their bytes and to whatever address
/// they claim to come from. Ports of media answer by themselves (`BindingMessage`). libre's
/// function takes further arguments, as with `re_fprintf`.
@c(stun_reply)
package func answerNoBindingRequest(
  _ networkProtocol: CInt,
  _ socket: UnsafeMutableRawPointer?
) -> CInt { 0 }

/// Replaces libre's function: prints nothing.
///
/// Strangers that send nonsense could fill a log with lines, or a pipe that is not read, and then
/// the event loop would wait. libre's function takes further arguments; on the processors that
/// Swift supports on Linux a function may ignore those.
@c(re_fprintf)
package func printNothing(
  _ stream: UnsafeMutableRawPointer?,
  _ format: UnsafePointer<CChar>?
) -> CInt { 0 }

@unsafe
private func peer(of connection: OpaquePointer?) -> ConnectionLimit.Connection? {
  var address = sa()
  guard unsafe tcp_conn_peer_get(connection, &address) == 0 else { return nil }
  return unsafe ConnectionLimit.Connection(
    descriptor: tcp_conn_fd(connection),
    host: host(of: &address),
    port: sa_port(&address)
  )
}

private func isOpen(_ connection: ConnectionLimit.Connection) -> Bool {
  var address = sa()
  let code = unsafe re_peer_name(connection.descriptor, &address)
  return unsafe code == 0 && host(of: &address) == connection.host
    && sa_port(&address) == connection.port
}

@unsafe
private func host(of address: UnsafeMutablePointer<sa>) -> String {
  var text = [CChar](repeating: 0, count: 64)
  var port: UInt16 = 0
  unsafe re_address_text(address, &text, text.count, &port)
  return String(cStringBytes: text)
}
