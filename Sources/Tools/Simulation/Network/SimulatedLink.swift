package import MediaCore
import Synchronization

/// What is under way in one direction between two simulated machines.
///
/// **Thread safety:** the sender may send while the receiver receives, each on one thread.
package final class SimulatedLink {
  private struct Datagram {
    let arrival: MonotonicInstant
    let bytes: [UInt8]
  }

  private var network: any PacketPath
  /// What the receiver has not taken over.
  private let posted = Mutex<[Datagram]>([])
  private let postedCount = Atomic<Int>(0)
  private var deliveredCount = 0
  /// In order of arrival: the receiver's.
  private var underWay: [Datagram] = []
  private var taken = 0
  /// Datagrams handed over so far, and how many of them the network lost.
  package private(set) var sent = 0
  private(set) var lost = 0

  /// Learns of each datagram that is received, and when it came: on the receiver's thread.
  var tap: (([UInt8], MonotonicInstant) -> Void)?

  /// The least time that a packet takes, in nanoseconds.
  let leastDelay: Int64

  /// Nothing is under way; `network` decides about each datagram.
  package init(_ network: any PacketPath) {
    self.network = network
    leastDelay = network.leastDelay
  }

  /// Hands a datagram to the network.
  package func send(_ datagram: borrowing ByteBuffer, length: Int, at now: MonotonicInstant) {
    sent += 1
    let fate = network.fate(sentAt: now, byteCount: length)
    guard let arrival = fate.arrival else {
      lost += 1
      return
    }
    let bytes = (0..<length).map { datagram[$0] }
    post(Datagram(arrival: arrival, bytes: bytes))
    if let copy = fate.copy { post(Datagram(arrival: copy, bytes: bytes)) }
  }

  private func post(_ datagram: Datagram) {
    posted.withLock { $0.append(datagram) }
    postedCount.add(1, ordering: .releasing)
  }

  private func deliver() {
    guard postedCount.load(ordering: .acquiring) != deliveredCount else { return }
    let news = posted.withLock { posted in
      let news = posted
      posted.removeAll(keepingCapacity: true)
      return news
    }
    deliveredCount += news.count
    for datagram in news { insert(datagram) }
  }

  /// The length and the arrival of the next datagram that has come by now.
  package func receive(
    into buffer: inout ByteBuffer,
    at now: MonotonicInstant
  ) -> (length: Int, arrival: MonotonicInstant)? {
    deliver()
    guard taken < underWay.count, underWay[taken].arrival <= now else { return nil }
    let datagram = underWay[taken]
    taken += 1
    if taken > 1_024 {
      underWay.removeFirst(taken)
      taken = 0
    }
    tap?(datagram.bytes, datagram.arrival)
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
