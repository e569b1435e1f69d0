import CLibre
import Glibc
import ProgramRig

/// A socket at an address of this machine that stands for another host.
final class LoopbackPeer {
  /// The numeric address.
  let host: String
  let descriptor: Int32

  /// A socket of UDP, or of TCP if that is said.
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

  /// What comes next, empty at the end of a connection; nil if nothing comes within so many
  /// milliseconds.
  func receive(within milliseconds: Int32 = 5_000) -> String? {
    var bytes = [UInt8](repeating: 0, count: 2_048)
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&waiting, 1, milliseconds) == 1 else { return nil }
    let length = unsafe recv(descriptor, &bytes, bytes.count, 0)
    return String(decoding: bytes[..<max(0, length)], as: UTF8.self)
  }
}
