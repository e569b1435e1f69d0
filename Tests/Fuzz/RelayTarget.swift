import CLibre
import ICE
import UDPTransport
@testable import SIPSignalling

/// What a TURN server answers, and what comes by way of it, to a client that is at work.
func fuzzRelay(_ bytes: [UInt8]) {
  let relay = RunningRelay()
  finish { await relay.play(bytes) }
}

/// A client on the event loop.
private actor RunningRelay {
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe EventLoopThread.shared.asUnownedSerialExecutor()
  }

  func play(_ bytes: [UInt8]) async {
    // The server, and the voice of this side as well.
    guard let socket = loopbackSocket(),
      let own = SocketAddress(host: "127.0.0.1", port: socket.localPort),
      let server = try? RelayServer("turn:\(own)", login: "alice", password: "secret")
    else { return }
    let client = RelayClient(server, voicePort: own) { event in
      guard case .received(let bytes, _) = event else { return }
      _ = BindingMessage(bytes, own: "0123456789012345678901", other: nil)
    }
    client.open(at: "127.0.0.1", identity: nil)
    var source = ByteSource(bytes)
    var address: SocketAddress?
    var request: [UInt8] = []
    for _ in 0..<20 where !source.isAtEnd {
      while let datagram = socket.receiveDatagram() {
        address = address ?? datagram.source
        guard datagram.source == address, datagram.bytes.count >= 20 else { continue }
        request = Array(datagram.bytes.prefix(20))
      }
      guard let address, request.count == 20 else { break }
      let choice = source.byte()
      switch choice % 4 {
      case 0, 1:
        // An answer to the last request (RFC 8489 section 5), a success or an error.
        let attributes = source.chunk(limit: 1_000)
        let kind = [request[0] | 0x01, request[1] | (choice % 4 == 0 ? 0 : 0x10)]
        let length = [UInt8(attributes.count >> 8), UInt8(attributes.count & 0xFF)]
        socket.send(kind + length + request[4...] + attributes, to: address)
      case 2:
        socket.send(source.chunk(limit: 1_000), to: address)
      default:
        send(by: client, to: SocketAddress(host: "192.0.2.\(choice >> 6)", port: 4_000))
        guard choice & 4 != 0, let bridge = client.bridge else { continue }
        socket.send([0x80, 0, 1, 2], to: bridge)
      }
      await turn()
    }
    client.close()
  }

  // Sends a check to a far side, which has the voice from then on.
  private func send(by client: RelayClient, to far: SocketAddress?) {
    guard let far, let check = unsafe re_relay_buffer([0, 1, 0, 0], 4) else { return }
    defer { _ = unsafe mem_deref(check) }
    client.farSide = far
    unsafe client.send(check, to: far)
  }
}
