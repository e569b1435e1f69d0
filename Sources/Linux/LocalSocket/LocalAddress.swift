import Glibc

/// The address of a socket in the file system.
struct LocalAddress {
  private var address = sockaddr_un()

  /// An address with that path; nil if the path is empty, or longer than the 107 bytes that the
  /// kernel allows.
  init?(_ path: String) {
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    guard !path.isEmpty, path.utf8.count < capacity else { return nil }
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in
      unsafe bytes.copyBytes(from: path.utf8)
    }
  }

  /// A new socket that is connected to the address; nil if that fails.
  func connected() -> Int32? { unsafe socket { unsafe connect($0, $1, $2) } }

  /// A new socket that is bound to the address; nil if that fails.
  func bound() -> Int32? { unsafe socket { unsafe bind($0, $1, $2) } }

  private func socket(
    _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32? {
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = Glibc.socket(AF_UNIX, kind, 0)
    guard descriptor >= 0 else { return nil }
    let result = unsafe withUnsafePointer(to: address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe use(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else {
      Glibc.close(descriptor)
      return nil
    }
    return descriptor
  }

  /// Makes a socket wait for at most `seconds` to send or receive, so that neither side hangs with
  /// the other.
  static func limitWaiting(_ descriptor: Int32, seconds: Int = 1) {
    var limit = timeval(tv_sec: seconds, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      _ = unsafe setsockopt(descriptor, SOL_SOCKET, option, &limit, size)
    }
  }

  /// The path that a socket is bound to; nil if it is of another kind.
  static func path(of descriptor: Int32) -> String? {
    var address = sockaddr_un()
    var size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(descriptor, $0, &size)
      }
    }
    guard result == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
    return unsafe withUnsafeBytes(of: &address.sun_path) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}
