import Dispatch
import Glibc

/// Answers programs of the same user at a socket in the file system (`unix(7)`): each connection
/// sends one line, and receives one.
///
/// **Life cycle:** serves from its initializer to `close`. **Thread safety:** `answer` is called on
/// a queue of its own, for one connection after the other.
// SAFETY: nothing changes after the initializer.
package final class LineServer: @unchecked Sendable {
  /// The longest line that is read, in bytes, newline included.
  package static let lineLimit = 16_384

  private let source: any DispatchSourceRead
  private let hasClosed = DispatchSemaphore(value: 0)

  /// Serves at `path`, where only the user may connect; nil if another program serves there
  /// already, or if no socket can be made there.
  ///
  /// A socket there that systemd has opened for this process is taken over, with the connections
  /// that wait in it. If `answer` returns nil, the connection is closed without a line.
  package init?(path: String, answer: @escaping @Sendable (String) -> String?) {
    let inherited = ActivatedSocket.descriptor(boundTo: path)
    guard let descriptor = inherited ?? Self.listening(at: path) else { return nil }
    let source = DispatchSource.makeReadSource(
      fileDescriptor: descriptor,
      queue: DispatchQueue(label: "org.sidetone.local-socket")
    )
    source.setEventHandler { Self.serve(descriptor, answer) }
    source.setCancelHandler { [hasClosed] in
      // What systemd has opened stays open, for the next process.
      if inherited == nil { _ = unsafe unlink(path) }
      Glibc.close(descriptor)
      hasClosed.signal()
    }
    self.source = source
    source.resume()
  }

  /// Ends serving and removes the socket; waits for the connection that is being answered.
  ///
  /// A socket that systemd has opened is not removed. Not to be called by `answer`.
  package func close() {
    source.cancel()
    hasClosed.wait()
    // A second time it does not wait.
    hasClosed.signal()
  }

  private static func listening(at path: String) -> Int32? {
    if let other = LocalAddress(path)?.connected() {
      Glibc.close(other)
      return nil
    }
    // One that a killed program has left.
    _ = unsafe unlink(path)
    guard let descriptor = LocalAddress(path)?.bound() else { return nil }
    guard unsafe chmod(path, 0o600) == 0, listen(descriptor, 16) == 0 else {
      Glibc.close(descriptor)
      return nil
    }
    return descriptor
  }

  private static func serve(_ descriptor: Int32, _ answer: (String) -> String?) {
    let client = accept(descriptor, nil, nil)
    guard client >= 0 else {
      // The connection waits until there is a descriptor for it, and the source would say so at
      // once again.
      if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { _ = poll(nil, 0, 100) }
      return
    }
    _ = fcntl(client, F_SETFD, FD_CLOEXEC)
    defer { Glibc.close(client) }
    LocalAddress.limitWaiting(client)
    guard let line = LineClient.line(from: client, limit: lineLimit), let text = answer(line)
    else { return }
    LineClient.send(text, to: client)
  }
}

/// Client of a `LineServer`.
package enum LineClient {
  /// Sends `line` to the program that serves at `path` and returns its answer; nil if no program
  /// serves there, or if the answer is missing, too long or later than `seconds`.
  ///
  /// A program that systemd first has to start takes longer than one that runs.
  package static func ask(_ line: String, at path: String, seconds: Int = 1) -> String? {
    guard let descriptor = LocalAddress(path)?.connected() else { return nil }
    defer { Glibc.close(descriptor) }
    LocalAddress.limitWaiting(descriptor, seconds: seconds)
    guard send(line, to: descriptor) else { return nil }
    return self.line(from: descriptor, limit: LineServer.lineLimit)
  }

  @discardableResult
  static func send(_ line: String, to descriptor: Int32) -> Bool {
    var rest = Array((line + "\n").utf8)[...]
    while !rest.isEmpty {
      let sent = unsafe rest.withUnsafeBytes { bytes in
        unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { return false }
      rest = rest.dropFirst(sent)
    }
    return true
  }

  /// The next line, without its newline; nil if it is longer than `limit` bytes, newline included,
  /// or if the connection ends or times out before the newline.
  static func line(from descriptor: Int32, limit: Int) -> String? {
    var line: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 4_096)
    while line.count < limit {
      let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
      guard count > 0 else { return nil }
      line += bytes[..<count]
      if let end = line.firstIndex(of: UInt8(ascii: "\n")) {
        return end < limit ? String(decoding: line[..<end], as: UTF8.self) : nil
      }
    }
    return nil
  }
}
