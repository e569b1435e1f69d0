import Foundation
import Glibc

/// The one sidetone of a user that takes over what later ones are asked to call: a socket in the
/// user's runtime folder, one line to a connection.
///
/// **Life cycle:** serves from its initialiser to `close`. Without XDG_RUNTIME_DIR there is none,
/// and every sidetone calls for itself.
final class RunningInstance: @unchecked Sendable {
  // SAFETY: the source is set once, before anything else can see the object.
  private let descriptor: Int32
  private let path: String
  private var source: (any DispatchSourceRead)?
  private static let lineLimit = 1_024

  /// Serves, and passes each address on; nil if another sidetone does, or there is no folder for
  /// it.
  init?(_ call: @escaping @Sendable (String) -> Void) {
    guard let path = Self.path() else { return nil }
    if let other = Self.connect(to: path) {
      Glibc.close(other)
      return nil
    }
    _ = unsafe unlink(path)
    guard let descriptor = unsafe Self.socket(path, { unsafe bind($0, $1, $2) }) else { return nil }
    self.descriptor = descriptor
    self.path = path
    guard unsafe chmod(path, 0o600) == 0, listen(descriptor, 4) == 0 else {
      Glibc.close(descriptor)
      return nil
    }
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global())
    source.setEventHandler {
      let client = accept(descriptor, nil, nil)
      guard client >= 0 else { return }
      defer { Glibc.close(client) }
      Self.limitWaiting(client)
      var bytes = [UInt8](repeating: 0, count: Self.lineLimit)
      let count = unsafe recv(client, &bytes, bytes.count, 0)
      guard count > 1, bytes[count - 1] == UInt8(ascii: "\n") else { return }
      call(String(decoding: bytes[..<(count - 1)], as: UTF8.self))
      _ = unsafe send(client, "ok\n", 3, Int32(MSG_NOSIGNAL))
    }
    source.resume()
    self.source = source
  }

  func close() {
    source?.cancel()
    source = nil
    Glibc.close(descriptor)
    _ = unsafe unlink(path)
  }

  /// Asks the sidetone that runs to call; false if none does.
  static func handOver(_ address: String) -> Bool {
    guard let path = path(), address.utf8.count < lineLimit, let descriptor = connect(to: path)
    else {
      return false
    }
    defer { Glibc.close(descriptor) }
    limitWaiting(descriptor)
    let line = Array((address + "\n").utf8)
    guard unsafe send(descriptor, line, line.count, Int32(MSG_NOSIGNAL)) == line.count
    else { return false }
    var answer = [UInt8](repeating: 0, count: 4)
    return unsafe recv(descriptor, &answer, answer.count, 0) == 3
  }

  // Neither side waits for one that hangs.
  private static func limitWaiting(_ descriptor: Int32) {
    var limit = timeval(tv_sec: 1, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
  }

  private static func path() -> String? {
    guard let folder = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] else { return nil }
    return folder + "/sidetone.sock"
  }

  private static func connect(to path: String) -> Int32? {
    unsafe socket(path) { unsafe Glibc.connect($0, $1, $2) }
  }

  private static func socket(
    _ path: String,
    _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    guard path.utf8.count < capacity else { return nil }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in
      unsafe bytes.copyBytes(from: path.utf8)
    }
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    let result = unsafe withUnsafePointer(to: &address) { pointer in
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
}
