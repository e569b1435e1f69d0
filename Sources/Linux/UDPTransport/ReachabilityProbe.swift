import CLinux
import Glibc

/// Finds out early whether a SIP port is closed.
///
/// A UDP INVITE to a closed port would otherwise take 32 s to fail (RFC 3261 timer B). The probe is
/// the keep-alive of RFC 5626 section 3.5.1, which every SIP element ignores or answers.
package enum ReachabilityProbe {
  /// True if somebody takes connections at `address`, and says so within `milliseconds`.
  ///
  /// Blocks for that long: not for an actor or the voice thread.
  package static func isConnectable(_ address: SocketAddress, milliseconds: Int) -> Bool {
    let family = CInt(address.storage.raw.ss_family)
    let kind =
      CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(family, kind, 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    if connect(descriptor, to: address) { return true }
    guard errno == EINPROGRESS else { return false }
    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard unsafe poll(&waiting, 1, CInt(clamping: milliseconds)) > 0 else { return false }
    var error: CInt = 0
    var size = socklen_t(MemoryLayout<CInt>.size)
    return unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0
  }

  /// True if the host at `address` says within `milliseconds` that its port is closed.
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
  /// the system knows; nil if there is no way.
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
