import CLibre
import Dispatch
import Glibc
import Synchronization
import UDPTransport
@testable import SIPSignalling

/// Runs `body`, which needs the event loop, and waits for its end.
func finish(_ body: @escaping @Sendable () async -> Void) {
  let isDone = DispatchSemaphore(value: 0)
  Task.detached {
    await body()
    isDone.signal()
  }
  isDone.wait()
}

/// Returns once the event loop has processed what has arrived, two milliseconds later at most.
///
/// Must be awaited on the event loop.
func turn(isolation: isolated (any Actor)? = #isolation) async {
  let timer = unsafe re_timer_alloc()
  // Its timers follow what it reads. But what makes this go on is read as well, and may have been
  // read before what has arrived.
  for _ in 0..<2 {
    await withCheckedContinuation { continuation in
      let waiting = WaitingTask(continuation)
      unsafe tmr_start(
        timer,
        0,
        { context in
          guard let context = unsafe context else { return }
          unsafe Unmanaged<WaitingTask>.fromOpaque(context).takeRetainedValue().resume()
        },
        Unmanaged.passRetained(waiting).toOpaque()
      )
    }
  }
  _ = unsafe mem_deref(UnsafeMutableRawPointer(timer))
}

private final class WaitingTask {
  private let continuation: CheckedContinuation<Void, Never>

  init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }

  func resume() { continuation.resume() }
}

/// A port of the loopback interface; nil if there is none.
func loopbackSocket() -> MediaSocket? {
  guard let address = SocketAddress(host: "127.0.0.1", port: 0) else { return nil }
  return try? MediaSocket(bindingTo: address)
}

/// Port of the loopback interface that connections may be opened to; 0 for none.
let openPort = Atomic<UInt16>(0)

private typealias Connector = @convention(c) (OpaquePointer?, UnsafeRawPointer?) -> CInt

/// Replaces libre's function: refuses every connection but those to `openPort`.
///
/// Fuzzed bytes may name any host, and none must receive anything. Datagrams stay on this machine
/// as well: they leave from the loopback address, from which the kernel lets them go nowhere else.
/// Returns an errno.
@c(tcp_conn_connect)
package func refuseConnection(
  _ connection: OpaquePointer?,
  _ peer: UnsafeRawPointer?
) -> CInt {
  let named = unsafe peer?.assumingMemoryBound(to: sa.self)
  // RTLD_NEXT, which Swift cannot import.
  let handle = unsafe UnsafeMutableRawPointer(bitPattern: -1)
  guard let address = unsafe SocketAddress(libre: named), address.host == "127.0.0.1",
    address.port == openPort.load(ordering: .relaxed),
    let next = unsafe dlsym(handle, "tcp_conn_connect")
  else { return ENETUNREACH }
  // SAFETY: libre's own function has this type.
  let connect = unsafe unsafeBitCast(next, to: Connector.self)
  return unsafe connect(connection, peer)
}

/// Detection of descriptors that a target leaves open.
enum Descriptors {
  /// The lowest free descriptor after the first input.
  private static let first = Atomic<CInt>(-1)
  /// Number of descriptors that may be left open: a phone may hold some for seconds after its end.
  ///
  /// libre takes no more than 1,024: with so many no other phone could start, and no input would
  /// have any effect.
  private static let tolerance: CInt = 100

  /// Stops the fuzzer if inputs leave descriptors open.
  static func check() {
    let lowest = unsafe Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
    close(lowest)
    let (isFirst, before) = first.compareExchange(
      expected: -1,
      desired: lowest,
      ordering: .relaxed
    )
    precondition(lowest >= 0 && (isFirst || lowest - before < tolerance), "descriptors stay open")
  }
}
