public import MediaCore
public import RealTime

/// A datagram path whose packets are protected by SRTP, or, without a session, that path itself.
///
/// Packets that fail authentication, or were received before, are dropped here: they do not reach
/// the stream and its statistics, and do not change the far side's address.
///
/// **Thread safety:** used by the voice thread only, like the path below. Nothing allocates after
/// the initialiser.
@safe
public struct SecureTransport<Path: PacketTransport & ~Copyable>: PacketTransport, ~Copyable {
  private var path: Path
  private let session: SRTPSession?
  private var hasSession = false
  /// Number of times that the last flight of the handshake may still be repeated, against floods.
  private var repliesLeft = 64
  private var buffer: ByteBuffer

  /// First bytes of DTLS datagrams (RFC 7983), from a far side that has missed the handshake's end.
  private static var handshakes: ClosedRange<UInt8> { 20...63 }

  /// The `path` without protection.
  public init(open path: consuming Path) {
    self.path = path
    session = nil
    buffer = ByteBuffer(repeating: 0, count: 1)
  }

  /// The `path` under the protection of a session, which it takes once no other path has it.
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

  /// Sends the first `length` bytes of `datagram` protected; sends nothing if that is impossible.
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

  /// Also accepts media from the source of the last datagram.
  public mutating func admitLastSource() { path.admitLastSource() }

  /// Makes the source of the last datagram the agreed host and port, and sends there from now on.
  public mutating func followLastSource() { path.followLastSource() }

  /// Accepts media from the agreed host and port only.
  public mutating func forgetAdmitted() { path.forgetAdmitted() }
}
