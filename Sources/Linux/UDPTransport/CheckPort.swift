import CLinux
import Glibc
package import RealTime

/// The part of a media socket that sends and receives connectivity checks (RFC 8445), while other
/// threads receive from the socket.
///
/// Checks are sent from the call's own port. Those that arrive are read by the thread that receives
/// from the port, which is the voice thread during a call, and passed on through a socket whose
/// queue holds a few; further ones are dropped.
///
/// **Life cycle:** made by `MediaSocket.makeCheckPort`; it keeps the port open. **Thread safety:**
/// `send` may be called from any thread, `receive` from one.
package final class CheckPort: Sendable {
  /// Descriptor that is readable while received checks wait for `receive`; closed with `CheckPort`.
  package let fileDescriptor: CInt
  /// The port that checks are sent from.
  package let localPort: UInt16
  private let socket: CInt

  init(socket: CInt, localPort: UInt16, handedOver: CInt) {
    self.socket = socket
    self.localPort = localPort
    fileDescriptor = handedOver
  }

  deinit {
    close(socket)
    close(fileDescriptor)
  }

  /// Sends a datagram to an address; a full socket buffer drops it.
  package func send(_ bytes: [UInt8], to address: SocketAddress) {
    MediaSocket.send(bytes, to: address, by: socket)
  }

  /// The next check that was passed on; nil if there is none.
  package func receive() -> MediaSocket.Datagram? {
    let header = MemoryLayout<sockaddr_storage>.size
    var bytes = [UInt8](repeating: 0, count: header + 2_048)
    let length = unsafe recv(fileDescriptor, &bytes, bytes.count, CInt(MSG_DONTWAIT))
    guard length >= header else { return nil }
    let source = unsafe bytes.withUnsafeBytes {
      unsafe $0.loadUnaligned(as: sockaddr_storage.self)
    }
    guard let address = SocketAddress(AddressStorage(raw: source)) else { return nil }
    return MediaSocket.Datagram(bytes: Array(bytes[header..<length]), source: address)
  }
}

extension MediaSocket {
  /// True if a datagram with that first byte is a STUN message (RFC 7983).
  @_noAllocation @_noLocks
  package static func isCheck(firstByte: UInt8) -> Bool { firstByte < 4 }

  /// Makes the port for connectivity checks over this socket; from now on this socket and later
  /// duplicates pass the checks that they receive on to it.
  package mutating func makeCheckPort() throws(SystemError) -> CheckPort {
    var ends: [CInt] = [-1, -1]
    let kind = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
      throw SystemError(operation: "socketpair", code: errno)
    }
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else {
      close(ends[0])
      close(ends[1])
      throw SystemError(operation: "dup", code: errno)
    }
    if checks >= 0 { close(checks) }
    checks = ends[1]
    return CheckPort(socket: copy, localPort: localPort, handedOver: ends[0])
  }
}
