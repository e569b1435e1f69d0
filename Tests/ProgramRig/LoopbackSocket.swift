import Foundation
import Glibc

/// Sockets between addresses of this machine.
package enum LoopbackSocket {
  /// Binds a socket to an address of this machine; port 0 lets the system choose.
  ///
  /// Returns true on success.
  package static func bind(
    _ descriptor: Int32,
    to port: UInt16,
    at host: String = "127.0.0.1"
  ) -> Bool {
    unsafe withAddress(of: port, at: host) { unsafe Glibc.bind(descriptor, $0, $1) } == 0
  }

  /// Begins a connection to a port of this machine, without waiting for it to be established.
  package static func connect(_ descriptor: Int32, to port: UInt16) {
    _ = unsafe withAddress(of: port) { unsafe Glibc.connect(descriptor, $0, $1) }
  }

  /// Sends a datagram to a port of this machine; true if it left.
  package static func send(_ bytes: [UInt8], to port: UInt16, from descriptor: Int32) -> Bool {
    let result = unsafe withAddress(of: port) { name, length in
      unsafe sendto(descriptor, bytes, bytes.count, 0, name, length)
    }
    return result >= 0
  }

  /// Returns the local port of a socket, 0 if it has none.
  package static func port(of descriptor: Int32) -> UInt16 {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        unsafe getsockname(descriptor, name, &length)
      }
    }
    return code == 0 ? UInt16(bigEndian: address.sin_port) : 0
  }

  /// Returns the datagrams that arrive within `seconds`.
  package static func datagrams(at descriptor: Int32, within seconds: Double) -> [[UInt8]] {
    var found: [[UInt8]] = []
    let end = Date(timeIntervalSinceNow: seconds)
    while let next = datagram(at: descriptor, within: end.timeIntervalSinceNow) {
      found.append(next)
    }
    return found
  }

  /// Returns the next datagram, or the next bytes of a connection, empty at its end; nil if nothing
  /// comes within `seconds`, or the connection was reset.
  package static func datagram(at descriptor: Int32, within seconds: Double) -> [UInt8]? {
    guard !ready([descriptor], within: seconds).isEmpty else { return nil }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let length = unsafe recv(descriptor, &bytes, bytes.count, 0)
    return length >= 0 ? Array(bytes[..<length]) : nil
  }

  /// Returns the sockets at which something arrives within `seconds`.
  package static func ready(_ descriptors: [Int32], within seconds: Double) -> [Int32] {
    var waiting = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    _ = unsafe poll(&waiting, nfds_t(waiting.count), Int32(max(0, seconds) * 1_000))
    return waiting.filter { $0.revents != 0 }.map(\.fd)
  }

  /// Waits until a program of this machine has bound a UDP port; false if that does not happen in
  /// time.
  package static func isTaken(_ port: Int) -> Bool {
    let suffix = String(format: ":%04X", port)
    return Patience.waits {
      // Without the list the port counts as free.
      let list = (try? String(contentsOfFile: "/proc/net/udp", encoding: .utf8)) ?? ""
      let sockets = list.split(separator: "\n").compactMap {
        $0.split(separator: " ").dropFirst().first
      }
      return sockets.contains { $0.hasSuffix(suffix) }
    }
  }

  private static func withAddress<Result>(
    of port: UInt16,
    at host: String = "127.0.0.1",
    _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = unsafe inet_addr(host)
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        unsafe body(name, length)
      }
    }
  }
}
