import MediaCore
import Synchronization

// SAFETY: the state belongs to the path that took the session; an atomic flag lets one do so.
/// The SRTP state of a call (keys, packet indices, replay lists), used by one stream after the
/// other.
///
/// It outlives the streams, so that a packet received before a hold is not accepted again after it.
/// Each stream's transport takes the session and leaves it; a stream that is made before the
/// previous one has ended sends and receives nothing until then.
///
/// **Thread safety:** made on one thread; one `SecureTransport` has its state at a time.
@safe
public final class SRTPSession: @unchecked Sendable {
  /// The profile in use.
  public let profile: SRTPProfile

  private let isTaken = Atomic<Bool>(false)
  // SAFETY: the path that took the session uses them, and neither calls back into it.
  @safe @exclusivity(unchecked) var sender: SRTPSender
  @safe @exclusivity(unchecked) var receiver: SRTPReceiver
  /// The last datagrams of the handshake, to be sent again if the far side has lost them.
  let lastFlight: FixedArray<UInt8>
  /// The lengths of these datagrams, and 0 at the end.
  let lastFlightLengths: FixedArray<Int>

  /// A session that has sent and received nothing.
  ///
  /// - Parameters:
  ///   - keys: the keys that the handshake has agreed on.
  ///   - lastFlight: this side's last flight of the handshake, if the far side does not acknowledge
  ///     it and may have lost it; else empty.
  /// - Throws: `SRTPError.outOfMemory`.
  package init(_ keys: SRTPKeys, lastFlight: [[UInt8]] = []) throws(SRTPError) {
    let sender = try SRTPSender(keys.profile, keys.local)
    let receiver = try SRTPReceiver(keys.profile, keys.remote)
    profile = keys.profile
    self.sender = sender
    self.receiver = receiver
    self.lastFlight = ByteBuffer(lastFlight.flatMap { $0 } + [0])
    lastFlightLengths = FixedArray(lastFlight.map(\.count) + [0])
  }

  /// Takes the state for the caller alone, until it calls `leave`; false if it is taken already.
  func take() -> Bool {
    isTaken.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged
  }

  func leave() {
    isTaken.store(false, ordering: .releasing)
  }
}
