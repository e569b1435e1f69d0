import MediaCore
import RTP
import RealTime
import UDPTransport

/// One caller without a sound card: sends encoded speech and counts what comes back.
///
/// **Thread safety:** connected by the thread that places the call, then only touched by the
/// sending thread.
// SAFETY: handed over before the thread starts and read after it has been joined.
final class Caller: @unchecked Sendable {
  let port: UInt16
  private(set) var received = 0
  private(set) var sent = 0
  private var socket: MediaSocket
  private var payloadType: UInt8 = 96
  private var place: Int
  private let ssrc: UInt32
  private var datagram = ByteBuffer(repeating: 0, count: 1_500)

  /// Creates a caller whose speech begins with packet `place`.
  init(place: Int, ssrc: UInt32) throws {
    guard let any = SocketAddress(host: "127.0.0.1", port: 0) else { throw NoAddress() }
    socket = try MediaSocket(bindingTo: any)
    port = socket.localPort
    self.place = place
    self.ssrc = ssrc
  }

  func connect(to host: String, _ port: UInt16, payloadType: UInt8) throws {
    guard let remote = SocketAddress(host: host, port: port) else { throw NoAddress() }
    socket.connect(to: remote, control: remote)
    self.payloadType = payloadType
  }

  /// Sends the next packet of 20 ms and takes what has arrived.
  func turn(_ packets: [[UInt8]]) {
    let payload = packets[place % packets.count]
    let header = RTPHeader(
      marker: sent == 0,
      payloadType: payloadType,
      sequenceNumber: UInt16(truncatingIfNeeded: sent),
      timestamp: RTPTimestamp(rawValue: UInt32(truncatingIfNeeded: sent * 960)),
      ssrc: ssrc
    )
    header.write(to: &datagram)
    for (index, byte) in payload.enumerated() {
      datagram[RTPHeader.minimumLength + index] = byte
    }
    // What the bot said before it was spoken to answers nothing.
    if sent == 0 { socket.discardPending() }
    socket.send(datagram, length: RTPHeader.minimumLength + payload.count, isControl: false)
    place += 1
    sent += 1
    let now = MonotonicClock.now()
    while case .received(let arrival) = socket.receive(into: &datagram, at: now) {
      if arrival.length > RTPHeader.minimumLength, datagram[1] & 0x7F == payloadType {
        received += 1
      }
    }
  }
}

/// Error of a host that is no numeric address.
struct NoAddress: Error {}
