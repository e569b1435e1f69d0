public import MediaCore
public import RealTime

/// A datagram path whose packets are protected by SRTP, or, without a session, that path itself.
///
/// Whatever fails authentication, or was received before, ends here: the stream, its statistics
/// and the far side's address never learn of it.
///
/// **Thread safety:** used by the voice thread only, like the path below. Nothing allocates after
/// the initialiser.
@safe
public struct SecureTransport<Path: PacketTransport & ~Copyable>: PacketTransport, ~Copyable {
  private var path: Path
  private let session: SRTPSession?
  private var hasSession = false
  /// How often the end of the handshake is still sent again: for lost datagrams, not for a flood.
  private var repliesLeft = 64
  private var buffer: ByteBuffer

  /// The first bytes of DTLS (RFC 7983): a handshake whose end the far side has missed.
  private static var handshakes: ClosedRange<UInt8> { 20...63 }

  /// The `path` in the open.
  public init(open path: consuming Path) {
    self.path = path
    session = nil
    buffer = ByteBuffer(repeating: 0, count: 1)
  }

  /// The `path` under the protection of a session, once other paths under it are gone.
  public init(_ path: consuming Path, under session: SRTPSession) {
    self.path = path
    self.session = session
    buffer = ByteBuffer(repeating: 0, count: 1_500 + SRTPSender.overhead)
  }

  deinit {
    if hasSession { session?.leave() }
  }

  // True once no other path has the session.
  private mutating func takeSession() -> Bool {
    if !hasSession { hasSession = session?.take() ?? false }
    return hasSession
  }

  /// Receives one datagram without waiting; one that is not the far side's counts as `failed`.
  public mutating func receive(
    into buffer: inout ByteBuffer,
    at now: MonotonicInstant
  ) -> TransportOutcome {
    let outcome = path.receive(into: &buffer, at: now)
    guard let session, case .received(var arrival) = outcome else { return outcome }
    guard takeSession(), arrival.length > 1 else { return .failed }
    if Self.handshakes.contains(buffer[0]) {
      replyToHandshake(session)
      return .failed
    }
    guard let length = session.receiver.unprotect(&buffer, length: arrival.length) else {
      return .failed
    }
    arrival.length = length
    return .received(arrival)
  }

  // The far side asks again for what it has missed: one answer for one request.
  private mutating func replyToHandshake(_ session: SRTPSession) {
    guard repliesLeft > 0 else { return }
    repliesLeft -= 1
    var start = 0
    for place in 0..<session.lastFlightLengths.count {
      let length = session.lastFlightLengths[place]
      guard length > 0, length <= buffer.count else { continue }
      buffer.copy(from: session.lastFlight, at: start, count: length)
      start += length
      path.send(buffer, length: length, isControl: false)
    }
  }

  /// Sends the first `length` bytes of `datagram` under protection, or nothing.
  public mutating func send(
    _ datagram: borrowing ByteBuffer,
    length: Int,
    isControl: Bool
  ) {
    guard let session else {
      return path.send(datagram, length: length, isControl: isControl)
    }
    guard takeSession(), length <= datagram.count,
      length + SRTPSender.overhead <= buffer.count
    else { return }
    buffer.copy(from: datagram, count: length)
    guard let protected = session.sender.protect(&buffer, length: length) else { return }
    path.send(buffer, length: protected, isControl: isControl)
  }

  /// Leaves the session to the next stream of the call.
  public mutating func end() {
    guard hasSession else { return }
    hasSession = false
    session?.leave()
  }

  /// Takes the host that the last datagram came from for the far side's as well.
  public mutating func admitLastSource() { path.admitLastSource() }

  /// Sends to where the last datagram came from.
  public mutating func followLastSource() { path.followLastSource() }

  /// Takes only the agreed host for the far side's.
  public mutating func forgetAdmitted() { path.forgetAdmitted() }
}
