import Dispatch
import UDPTransport

/// Reads a call's port while nothing else does, as during a hold, so that connectivity checks go
/// on.
///
/// What else arrives is old by the time that somebody could hear it, and dropped.
///
/// **Life cycle:** it reads from its initialiser until `stop`. **Thread safety:** one owner; it
/// reads on a queue of its own.
final class StandbyReader {
  private static let queue = DispatchQueue(label: "sidetone.standby")

  private let source: any DispatchSourceRead

  init(over socket: consuming MediaSocket) {
    let held = HeldSocket(socket)
    held.socket.setReportsErrors(false)
    source = DispatchSource.makeReadSource(
      fileDescriptor: held.socket.fileDescriptor,
      queue: Self.queue
    )
    source.setEventHandler { while held.socket.receiveDatagram() != nil {} }
    // The descriptor has to outlive the source.
    source.setCancelHandler { withExtendedLifetime(held) {} }
    source.resume()
  }

  /// Leaves the port to others; nothing is read from it any more when this returns.
  func stop() {
    source.cancel()
    Self.queue.sync {}
  }
}

// SAFETY: the socket is used on the queue alone once the source runs.
private final class HeldSocket: @unchecked Sendable {
  let socket: MediaSocket

  init(_ socket: consuming MediaSocket) {
    self.socket = socket
  }
}
