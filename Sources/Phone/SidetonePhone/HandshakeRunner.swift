public import CallSecurity
import Dispatch
import RealTime
import UDPTransport

/// The outcome of a call's handshake.
public enum HandshakeReport: Sendable {
  /// The handshake has brought the keys.
  case secured(SecuredMedia)
  /// The handshake has failed, for the given reason.
  case failed(String)
}

/// Runs a call's DTLS handshake over its port until the voice thread takes the port over.
///
/// Voice packets that arrive before there are keys are dropped, since they cannot be decrypted;
/// later ones stay in the socket for the voice thread.
///
/// **Life cycle:** it runs from its initialiser until `stop`. **Thread safety:** any thread;
/// `report` is called at most once, on the handshakes' queue.
// SAFETY: all state is used on the queue alone.
final class HandshakeRunner: @unchecked Sendable {
  /// Queue of all handshakes in the process: each takes a millisecond or two.
  private static let queue = DispatchQueue(label: "sidetone.handshake")
  /// Time for the far side to complete the handshake once the call is answered.
  private static let patience = DispatchTimeInterval.seconds(10)

  private let socket: MediaSocket
  private let report: @Sendable (HandshakeReport) -> Void
  private var handshake: MediaHandshake
  private var source: (any DispatchSourceRead)?
  private var timer: (any DispatchSourceTimer)?
  private var isSecured = false
  private var isOver = false

  /// Creates a runner for the side that waits for the other one to begin.
  convenience init(
    waitingWith identity: Identity,
    over socket: consuming MediaSocket,
    _ report: @escaping @Sendable (HandshakeReport) -> Void
  ) {
    self.init(MediaHandshake(waitingWith: identity), over: socket, report)
  }

  /// Creates a runner for the side that begins.
  convenience init(
    _ identity: Identity,
    towards address: SocketAddress,
    over socket: consuming MediaSocket,
    _ report: @escaping @Sendable (HandshakeReport) -> Void
  ) throws {
    let handshake = try MediaHandshake(identity, towards: address)
    self.init(handshake, over: socket, report)
    Self.queue.async { [self] in advance() }
  }

  /// A Binding indication of STUN, which has no answer (RFC 8489 section 6).
  ///
  /// An empty datagram would do, but ends the handshake of aiortc.
  private static var opener: [UInt8] {
    [0x00, 0x11, 0x00, 0x00, 0x21, 0x12, 0xA4, 0x42] + (0..<12).map { _ in .random(in: 0...255) }
  }

  private init(
    _ handshake: consuming MediaHandshake,
    over socket: consuming MediaSocket,
    _ report: @escaping @Sendable (HandshakeReport) -> Void
  ) {
    let descriptor = socket.fileDescriptor
    socket.setReportsErrors(false)
    self.handshake = handshake
    self.socket = socket
    self.report = report
    Self.queue.sync {
      let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: Self.queue)
      source.setEventHandler { [weak self] in self?.receive() }
      // The descriptor has to outlive the source.
      source.setCancelHandler { withExtendedLifetime(self) {} }
      source.resume()
      self.source = source
    }
  }

  /// Passes on the far side's identity and addresses from signalling: `remote` for its media,
  /// `control` for its RTCP.
  func expect(
    _ expectation: MediaHandshake.Expectation,
    at remote: SocketAddress,
    control: SocketAddress
  ) {
    Self.queue.async { [self] in
      handshake.expect(expectation, at: remote, control: control)
      // A firewall on our way lets the far side in only after something has left.
      socket.sendOnTrust(Self.opener, to: remote, at: MonotonicClock.now())
      advance()
    }
  }

  /// Also accepts datagrams from a host that signalling comes from; one that `hasAnswered` requests
  /// is sent more.
  func admit(host: String, hasAnswered: Bool) {
    Self.queue.async { [weak self] in
      self?.handshake.admit(host: host, hasAnswered: hasAnswered)
    }
  }

  /// Starts the time limit for the handshake: the call has been answered.
  func limitTime() {
    Self.queue.async { [weak self] in self?.handshake.hurry() }
    Self.queue.asyncAfter(deadline: .now() + Self.patience) { [weak self] in
      self?.fail("the far side did not finish the handshake of the encryption")
    }
  }

  /// Stops reading from the port; nothing is read from it any more when this returns.
  func stop() {
    Self.queue.sync {
      isOver = true
      end()
    }
  }

  // MARK: On the queue

  private func receive() {
    while source != nil, let first = socket.peekFirstByte() {
      let isOurs = MediaHandshake.owns(firstByte: first) || MediaSocket.isCheck(firstByte: first)
      if isSecured, !isOurs { return endWatching() }
      guard let datagram = socket.receiveDatagram() else { return }
      handshake.receive(datagram)
      advance()
    }
  }

  private func advance() {
    guard !isOver else { return }
    if let address = handshake.answeringAddress { socket.noteAnswer(from: address) }
    for datagram in handshake.takeOutgoing() {
      if handshake.isClient {
        socket.sendOnTrust(datagram.bytes, to: datagram.destination, at: MonotonicClock.now())
      } else {
        socket.send(datagram.bytes, to: datagram.destination)
      }
    }
    switch handshake.state {
    case .waiting:
      startTimer()
    case .secured(let media):
      guard !isSecured else { return }
      isSecured = true
      timer?.cancel()
      timer = nil
      report(.secured(media))
    case .failed(let reason):
      fail(reason)
    }
  }

  private func fail(_ reason: String) {
    guard !isSecured, !isOver else { return }
    isOver = true
    end()
    report(.failed(reason))
  }

  private func startTimer() {
    guard timer == nil else { return }
    let timer = DispatchSource.makeTimerSource(queue: Self.queue)
    let pause = DispatchTimeInterval.nanoseconds(Int(MediaHandshake.repeatNanoseconds))
    timer.schedule(deadline: .now() + pause, repeating: pause)
    timer.setEventHandler { [weak self] in
      self?.handshake.tick()
      self?.advance()
    }
    timer.resume()
    self.timer = timer
  }

  private func endWatching() {
    source?.cancel()
    source = nil
  }

  private func end() {
    endWatching()
    timer?.cancel()
    timer = nil
  }
}
