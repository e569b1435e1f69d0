import CLinux
import Glibc

/// Finds out early whether a SIP port is closed.
///
/// A UDP INVITE to a closed port would otherwise take 32 s to fail (RFC 3261 timer B). The probe is
/// the keep-alive of RFC 5626 section 3.5.1, which every SIP element ignores or answers.
package enum ReachabilityProbe {
  /// Interval between parallel attempts to connect, in milliseconds: the kernel repeats a lost SYN
  /// only after a second (RFC 6298 section 2.1).
  private static let pause = 100
  private static let mostAttempts = 5

  /// Returns true if `address` accepts a TCP connection within `milliseconds`.
  ///
  /// Blocks for up to `milliseconds`: not for an actor or the voice thread. A lost SYN costs 100
  /// ms.
  package static func isConnectable(_ address: SocketAddress, milliseconds: Int) -> Bool {
    let deadline = ContinuousClock.now + .milliseconds(milliseconds)
    var attempts: [pollfd] = []
    defer { for attempt in attempts { close(attempt.fd) } }
    while true {
      if attempts.count < mostAttempts, let descriptor = beginConnecting(to: address) {
        attempts.append(pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0))
      }
      let left = (deadline - .now) / .milliseconds(1)
      guard left > 0, !attempts.isEmpty else { return false }
      let wait = attempts.count < mostAttempts ? min(left, Double(pause)) : left
      _ = unsafe poll(&attempts, nfds_t(attempts.count), CInt(wait.rounded(.up)))
      if let answered = attempts.first(where: { $0.revents != 0 }) {
        return isConnected(answered.fd)
      }
    }
  }

  /// A socket that has begun to connect; nil if there is no route or no descriptor.
  private static func beginConnecting(to address: SocketAddress) -> CInt? {
    let family = CInt(address.storage.raw.ss_family)
    let kind =
      CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(family, kind, 0)
    guard descriptor >= 0 else { return nil }
    guard connect(descriptor, to: address) || errno == EINPROGRESS else {
      close(descriptor)
      return nil
    }
    return descriptor
  }

  private static func isConnected(_ descriptor: CInt) -> Bool {
    var error: CInt = 0
    var size = socklen_t(MemoryLayout<CInt>.size)
    return unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0
  }

  /// True if the host at `address` reports within `milliseconds` that its port is closed.
  ///
  /// Blocks for that long: not for an actor or the voice thread.
  package static func isRefused(_ address: SocketAddress, milliseconds: Int) -> Bool {
    let family = CInt(address.storage.raw.ss_family)
    let descriptor = socket(family, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    guard connect(descriptor, to: address) else { return false }
    let keepAlive: [UInt8] = [13, 10, 13, 10]
    _ = unsafe keepAlive.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, 0) }
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&waiting, 1, CInt(clamping: milliseconds)) > 0 else { return false }
    var byte: UInt8 = 0
    return unsafe recv(descriptor, &byte, 1, CInt(MSG_DONTWAIT)) < 0
      && errno == ECONNREFUSED
  }

  /// The largest packet that gets to `address` in one piece, in bytes with all headers, as far as
  /// the system knows; nil if there is no route.
  package static func pathMTU(to address: SocketAddress) -> Int? {
    let family = CInt(address.storage.raw.ss_family)
    let descriptor = socket(family, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard connect(descriptor, to: address) else { return nil }
    let (level, option) = address.isIPv6 ? (IPPROTO_IPV6, IPV6_MTU) : (IPPROTO_IP, IP_MTU)
    var bytes: CInt = 0
    var size = socklen_t(MemoryLayout<CInt>.size)
    let code = unsafe getsockopt(descriptor, CInt(level), option, &bytes, &size)
    return code == 0 ? Int(bytes) : nil
  }

  private static func connect(_ descriptor: CInt, to address: SocketAddress) -> Bool {
    var storage = address.storage.raw
    let length = address.storage.length
    return unsafe withUnsafeMutablePointer(to: &storage) { storage in
      unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        unsafe Glibc.connect(descriptor, name, length) == 0
      }
    }
  }
}
