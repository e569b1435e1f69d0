import Dispatch
import UDPTransport

/// Reads a call's port while there is neither a stream nor a handshake, as during a hold, so that
/// connectivity checks are handled.
///
/// Other packets would be too old to be played later, and are dropped.
///
/// **Life cycle:** it reads from its initialiser until `stop`. **Thread safety:** one owner; it
/// reads on a queue of its own.
final class StandbyReader {
  private static let queue = DispatchQueue(label: "sidetone.standby")

  private let held: HeldSocket
  private let source: any DispatchSourceRead
  private let reading = DispatchGroup()

  init(over socket: consuming MediaSocket) {
    socket.setReportsErrors(false)
    source = DispatchSource.makeReadSource(
      fileDescriptor: socket.fileDescriptor,
      queue: Self.queue
    )
    let held = HeldSocket(socket)
    self.held = held
    source.setEventHandler { held.discardPending() }
    reading.enter()
    source.setCancelHandler { [reading] in reading.leave() }
    source.resume()
  }

  deinit { source.cancel() }

  /// Stops reading and returns the socket; nothing is read from it any more when this returns.
  @discardableResult
  func stop() -> MediaSocket? {
    source.cancel()
    // The descriptor has to outlive the source.
    reading.wait()
    return held.take()
  }
}

// SAFETY: the socket is used on the queue alone while the source runs, and by who has stopped it
// then.
private final class HeldSocket: @unchecked Sendable {
  private var socket: MediaSocket?

  init(_ socket: consuming MediaSocket) {
    self.socket = consume socket
  }

  func discardPending() {
    // `stop` waits for this, so it has an end: the rest is read the next time.
    for _ in 0..<256 where socket?.receiveDatagram() == nil { return }
  }

  func take() -> MediaSocket? { socket.take() }
}
