import MediaTime

/// What is under way in one direction between two simulated machines.
///
/// **Thread safety:** one thread at a time.
final class SimulatedLink {
  private struct Datagram {
    let arrival: MonotonicInstant
    let bytes: [UInt8]
  }

  private var network: any PacketPath
  private var underWay: [Datagram] = []
  private var taken = 0
  /// Datagrams handed over so far, and how many of them the network lost.
  private(set) var sent = 0
  private(set) var lost = 0

  init(_ network: any PacketPath) { self.network = network }

  func send(_ datagram: borrowing ByteBuffer, length: Int, at now: MonotonicInstant) {
    sent += 1
    let fate = network.fate(sentAt: now, byteCount: length)
    guard let arrival = fate.arrival else {
      lost += 1
      return
    }
    let bytes = (0..<length).map { datagram[$0] }
    insert(Datagram(arrival: arrival, bytes: bytes))
    if let copy = fate.copy { insert(Datagram(arrival: copy, bytes: bytes)) }
  }

  /// The length and the arrival of the next datagram that has come by now.
  func receive(
    into buffer: inout ByteBuffer,
    at now: MonotonicInstant
  ) -> (length: Int, arrival: MonotonicInstant)? {
    guard taken < underWay.count, underWay[taken].arrival <= now else { return nil }
    let datagram = underWay[taken]
    taken += 1
    if taken > 1_024 {
      underWay.removeFirst(taken)
      taken = 0
    }
    let length = min(datagram.bytes.count, buffer.count)
    for index in 0..<length { buffer[index] = datagram.bytes[index] }
    return (length, datagram.arrival)
  }

  private func insert(_ datagram: Datagram) {
    var place = underWay.count
    while place > taken, underWay[place - 1].arrival > datagram.arrival { place -= 1 }
    underWay.insert(datagram, at: place)
  }
}
