public import MediaCore
public import RealTime

/// The datagram path of a simulated machine.
public struct SimulatedTransport: PacketTransport, ~Copyable {
  private let outgoing: SimulatedLink
  private let incoming: SimulatedLink
  private let time: VirtualTime

  init(sending outgoing: SimulatedLink, receiving incoming: SimulatedLink, time: VirtualTime) {
    self.outgoing = outgoing
    self.incoming = incoming
    self.time = time
  }

  /// There is none.
  public var descriptor: CInt { -1 }

  /// The next datagram that has arrived by now.
  public mutating func receive(
    into buffer: inout ByteBuffer,
    at now: MonotonicInstant
  ) -> TransportOutcome {
    guard let received = incoming.receive(into: &buffer, at: now) else { return .empty }
    return .received(
      Arrival(length: received.length, instant: received.arrival, origin: .agreed)
    )
  }

  /// Does nothing: there is one sender only.
  public mutating func admitLastSource() {}

  /// Does nothing: no other address was admitted.
  public mutating func forgetAdmitted() {}

  /// Hands a datagram to the network.
  public mutating func send(
    _ datagram: borrowing ByteBuffer,
    length: Int,
    isControl: Bool
  ) {
    outgoing.send(datagram, length: length, at: time.now)
  }
}
