import CLibre
import Glibc
import ProgramRig

/// The far side's end of a connection over the loopback interface.
///
/// It is reset at its end, so that no port stays taken: there are many connections in a second.
@safe
final class FarEnd {
  /// Numeric host of this end.
  let host: String
  /// Port of this end.
  let port: UInt16
  private var descriptor: CInt
  private var secured: OpaquePointer?

  /// An accepted connection.
  init(_ descriptor: CInt, at host: String = "127.0.0.1") {
    self.host = host
    self.descriptor = descriptor
    port = LoopbackSocket.port(of: descriptor)
    // The event loop's thread must not wait for itself.
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    // Two segments are two, and do not wait for each other.
    re_hasten(descriptor)
  }

  /// Connects to a port; nil if no descriptor is free.
  convenience init?(to port: UInt16) {
    let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(AF_INET, kind, 0)
    // One host may open few in a second (`ConnectionLimit`). All names are of the same length.
    let host = "127.1.\(100 + port >> 8 % 128).\(100 + port % 150)"
    guard descriptor >= 0, LoopbackSocket.bind(descriptor, to: 0, at: host) else {
      if descriptor >= 0 { close(descriptor) }
      return nil
    }
    LoopbackSocket.connect(descriptor, to: port)
    self.init(descriptor, at: host)
  }

  deinit { end() }

  /// Resets the connection.
  func end() {
    guard descriptor >= 0 else { return }
    unsafe SSL_free(secured)
    unsafe secured = nil
    var reset = linger(l_onoff: 1, l_linger: 0)
    let size = socklen_t(MemoryLayout<linger>.size)
    _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &reset, size)
    close(descriptor)
    descriptor = -1
  }

  // MARK: TLS

  /// Encrypts everything from now on by TLS.
  func secure() {
    // OpenSSL writes to connections that have ended.
    signal(SIGPIPE, SIG_IGN)
    let context = unsafe SSL_CTX_new(TLS_client_method())
    unsafe secured = SSL_new(context)
    unsafe SSL_CTX_free(context)
    _ = unsafe SSL_set_fd(secured, descriptor)
  }

  /// Continues the handshake of TLS; true once it is over, and always without TLS.
  func isReady() -> Bool {
    guard let secured = unsafe secured else { return true }
    // The phone's side has the same list of errors: it must not find others' there.
    defer { ERR_clear_error() }
    return unsafe SSL_connect(secured) == 1
  }

  // MARK: What is said

  /// Sends bytes, as one segment.
  func say(_ bytes: ArraySlice<UInt8>) {
    guard descriptor >= 0, !bytes.isEmpty else { return }
    let segment = Array(bytes)
    if let secured = unsafe secured {
      _ = unsafe SSL_write(secured, segment, CInt(segment.count))
      ERR_clear_error()
    } else {
      _ = unsafe send(descriptor, segment, segment.count, CInt(MSG_NOSIGNAL))
    }
  }

  /// Returns all bytes that have arrived.
  func hear() -> [UInt8] {
    var heard: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4_096)
    while descriptor >= 0 {
      let length = take(&part)
      guard length > 0 else { break }
      heard += part[..<length]
    }
    return heard
  }

  private func take(_ part: inout [UInt8]) -> Int {
    guard let secured = unsafe secured else {
      return unsafe recv(descriptor, &part, part.count, 0)
    }
    defer { ERR_clear_error() }
    return unsafe Int(SSL_read(secured, &part, CInt(part.count)))
  }
}

/// A port of the loopback interface at which connections are accepted.
final class Listener {
  let port: UInt16
  private let descriptor: CInt

  /// Listens at a free port; nil if none is free.
  init?() {
    let kind =
      CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
    descriptor = socket(AF_INET, kind, 0)
    let isBound = LoopbackSocket.bind(descriptor, to: 0)
    port = LoopbackSocket.port(of: descriptor)
    guard isBound, listen(descriptor, 4) == 0 else { return nil }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// The next connection; nil if there is none yet.
  func next() -> FarEnd? {
    let connection = accept(descriptor, nil, nil)
    return connection >= 0 ? FarEnd(connection) : nil
  }
}

/// Sends bytes in segments of `length`, the last of which has all the rest; 0 means a single
/// segment.
///
/// The receiver processes each segment before the next is sent.
///
/// Must be awaited on the event loop.
func say(
  _ bytes: [UInt8],
  inSegmentsOf length: Int = 0,
  by end: FarEnd,
  isolation: isolated (any Actor)? = #isolation
) async {
  var rest = bytes[...]
  var count = 0
  repeat {
    count += 1
    let segment = length > 0 && count < 32 ? rest.prefix(length) : rest
    end.say(segment)
    rest = rest.dropFirst(segment.count)
    await turn()
  } while !rest.isEmpty
}
