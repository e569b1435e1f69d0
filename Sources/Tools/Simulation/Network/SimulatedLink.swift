package import MediaCore
import Synchronization

/// Link for datagrams in one direction between two simulated machines.
///
/// **Thread safety:** the sender may send while the receiver receives, each on one thread.
package final class SimulatedLink {
  private struct Datagram {
    let arrival: MonotonicInstant
    let bytes: [UInt8]
  }

  private var network: any PacketPath
  /// Datagrams that the receiver has not fetched from the sender's thread.
  private let posted = Mutex<[Datagram]>([])
  private let postedCount = Atomic<Int>(0)
  private var deliveredCount = 0
  /// Datagrams under way in the order of their arrival, on the receiver's thread only.
  private var underWay: [Datagram] = []
  private var taken = 0
  /// Number of datagrams sent so far; `lost` is the number that the network lost.
  package private(set) var sent = 0
  private(set) var lost = 0

  /// Closure that is called with each datagram received and its arrival, on the receiver's thread.
  var tap: (([UInt8], MonotonicInstant) -> Void)?

  /// Least delay of a datagram, in nanoseconds.
  let leastDelay: Int64

  /// Creates an empty link, on which `network` decides about each datagram.
  package init(_ network: any PacketPath) {
    self.network = network
    leastDelay = network.leastDelay
  }

  /// Sends a datagram over the network.
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

  /// Removes the next datagram that has arrived by now, copies it to `buffer`, and returns its
  /// length and arrival; nil if there is none.
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
