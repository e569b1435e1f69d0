package import MediaCore
package import RealTime

/// The datagram path of a simulated machine.
package struct SimulatedTransport: PacketTransport, ~Copyable {
  private let outgoing: SimulatedLink
  private let incoming: SimulatedLink
  private let time: VirtualTime

  /// Creates a transport over two links, in the given time.
  package init(
    sending outgoing: SimulatedLink,
    receiving incoming: SimulatedLink,
    time: VirtualTime
  ) {
    self.outgoing = outgoing
    self.incoming = incoming
    self.time = time
  }

  /// Receives the next datagram that has arrived by now.
  package mutating func receive(
    into buffer: inout ByteBuffer,
    at now: MonotonicInstant
  ) -> TransportOutcome {
    guard let received = incoming.receive(into: &buffer, at: now) else { return .empty }
    return .received(
      Arrival(length: received.length, instant: received.arrival, origin: .agreed)
    )
  }

  /// Does nothing: there is one sender only.
  package mutating func admitLastSource() {}

  /// Does nothing: addresses stay as they are.
  package mutating func followLastSource() {}

  /// Does nothing: no other address was admitted.
  package mutating func forgetAdmitted() {}

  /// Sends a datagram over the network.
  package mutating func send(
    _ datagram: borrowing ByteBuffer,
    length: Int,
    isControl: Bool
  ) {
    outgoing.send(datagram, length: length, at: time.now)
  }
}
