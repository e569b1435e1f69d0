import CLibre
import Glibc
import ProgramRig

/// A socket at an address of this machine that stands for another host.
final class LoopbackPeer {
  /// Numeric address of the socket.
  let host: String
  let descriptor: Int32

  /// A UDP socket, or one of TCP with the type `SOCK_STREAM`.
  ///
  /// Throws a `RigError` if the address cannot be had.
  init(at host: String, _ type: __socket_type = SOCK_DGRAM) throws {
    self.host = host
    descriptor = socket(AF_INET, Int32(type.rawValue), 0)
    guard LoopbackSocket.bind(descriptor, to: 0, at: host) else {
      throw RigError("no socket at \(host)")
    }
  }

  deinit {
    close(descriptor)
  }

  /// Connects to a port of this machine.
  func connect(to port: UInt16) {
    LoopbackSocket.connect(descriptor, to: port)
  }

  /// Sends over the connection.
  func send(_ text: String) {
    _ = unsafe Glibc.send(descriptor, text, text.utf8.count, CInt(MSG_NOSIGNAL))
  }

  /// Sends a datagram to a port of this machine.
  func send(_ text: String, to port: UInt16) {
    _ = LoopbackSocket.send(Array(text.utf8), to: port, from: descriptor)
  }

  /// Returns the next datagram, or bytes of a connection, empty at its end; nil if nothing arrives
  /// within `milliseconds`.
  func receive(within milliseconds: Int32 = 5_000) -> String? {
    var bytes = [UInt8](repeating: 0, count: 2_048)
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&waiting, 1, milliseconds) == 1 else { return nil }
    let length = unsafe recv(descriptor, &bytes, bytes.count, 0)
    return String(decoding: bytes[..<max(0, length)], as: UTF8.self)
  }
}
