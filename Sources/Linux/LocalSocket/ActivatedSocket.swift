import Glibc

/// Sockets passed to this process by systemd's socket activation (`sd_listen_fds(3)`).
enum ActivatedSocket {
  /// Number of the first descriptor that systemd passes on.
  private static let first: Int32 = 3

  /// A copy of the socket that is bound to `path`; nil if none was passed on.
  static func descriptor(boundTo path: String) -> Int32? {
    guard number(of: "LISTEN_PID") == getpid(), let count = number(of: "LISTEN_FDS"), count > 0
    else { return nil }
    let passed = (first..<(first + min(count, 64))).first { LocalAddress.path(of: $0) == path }
    guard let passed else { return nil }
    let copy = fcntl(passed, F_DUPFD_CLOEXEC, 0)
    return copy >= 0 ? copy : nil
  }

  private static func number(of variable: String) -> Int32? {
    unsafe getenv(variable).flatMap { unsafe Int32(String(cString: $0)) }
  }
}
