import MediaCore
import RealTime
import UDPTransport

/// A socket that receives what it sends, where a packet arrives when it was sent, in a time of its
/// own.
///
/// The system calls are made; only what the kernel notes of the arrival is of another time.
struct OwnSocket: PacketTransport, ~Copyable {
  private var socket: MediaSocket
  private let time: SkippedTime
  private var sendings = FixedArray<Int64>(repeating: 0, count: 256)
  private var sent = 0
  private var received = 0

  /// Throws what the system does.
  init(time: SkippedTime) throws {
    socket = try MediaSocket.toItself()
    self.time = time
  }

  mutating func receive(
    into buffer: inout ByteBuffer,
    at now: MonotonicInstant
  ) -> TransportOutcome {
    let outcome = socket.receive(into: &buffer, at: now)
    guard case .received(var arrival) = outcome else { return outcome }
    arrival.instant = MonotonicInstant(nanoseconds: sendings[received % sendings.count])
    received += 1
    return .received(arrival)
  }

  mutating func send(_ datagram: borrowing ByteBuffer, length: Int, isControl: Bool) {
    sendings[sent % sendings.count] = time.now.nanoseconds
    sent += 1
    socket.send(datagram, length: length, isControl: isControl)
  }

  mutating func admitLastSource() { socket.admitLastSource() }
  mutating func forgetAdmitted() { socket.forgetAdmitted() }
}
