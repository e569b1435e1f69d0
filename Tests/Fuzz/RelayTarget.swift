import CLibre
import ICE
import Synchronization
import UDPTransport
@testable import SIPSignalling

/// Answers of a TURN server, and data relayed by it, to a client at work.
func fuzzRelay(_ bytes: [UInt8]) {
  let relay = RunningRelay()
  finish { await relay.play(bytes) }
}

/// The same over a connection whose segments end anywhere, so that the client must find where a
/// message ends (RFC 8656 section 12.5).
///
/// The first byte is the length of a segment; 0 means a single segment.
func fuzzRelayStream(_ bytes: [UInt8]) {
  let relay = RunningRelay()
  finish { await relay.play(stream: bytes) }
  Descriptors.check()
}

/// A TURN client on the event loop.
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
    let client = makeClient(of: server, voicePort: own)
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
        let attributes = source.chunk(limit: 1_000)
        socket.send(
          answer(to: request, with: attributes, isError: choice % 4 == 1),
          to: address
        )
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

  func play(stream bytes: [UInt8]) async {
    guard let listener = Listener(), let voice = loopbackSocket(),
      let own = SocketAddress(host: "127.0.0.1", port: voice.localPort),
      // The URI is one.
      let server = try? RelayServer(
        "turn:127.0.0.1:\(listener.port)?transport=tcp",
        login: "alice",
        password: "secret"
      )
    else { return }
    openPort.store(listener.port, ordering: .relaxed)
    defer { openPort.store(0, ordering: .relaxed) }
    let client = makeClient(of: server, voicePort: own)
    defer { client.close() }
    var accepted = listener.next()
    for _ in 0..<1_000 where accepted == nil {
      await turn()
      accepted = listener.next()
    }
    guard let far = accepted else { return }
    var heard = far.hear()
    for _ in 0..<1_000 where heard.isEmpty {
      await turn()
      heard = far.hear()
    }
    await play(stream: bytes, by: far, to: client, heard, voice: voice)
  }

  private func play(
    stream bytes: [UInt8],
    by far: FarEnd,
    to client: RelayClient,
    _ first: [UInt8],
    voice: borrowing MediaSocket
  ) async {
    var source = ByteSource(bytes)
    let length = Int(source.byte())
    var heard = first
    var request: [UInt8] = []
    var said: [UInt8] = []
    for _ in 0..<20 where !source.isAtEnd {
      heard += far.hear()
      request = takeLastRequest(from: &heard) ?? request
      guard request.count == 20 else { break }
      let choice = source.byte()
      switch choice % 4 {
      case 0, 1:
        let attributes = source.chunk(limit: 1_000)
        said += answer(to: request, with: attributes, isError: choice % 4 == 1)
      case 2:
        said += source.chunk(limit: 1_000)
      default:
        send(by: client, to: SocketAddress(host: "192.0.2.\(choice >> 6)", port: 4_000))
        if choice & 4 != 0, let bridge = client.bridge { voice.send([0x80, 0, 1, 2], to: bridge) }
        if choice & 32 != 0 { far.end() }
      }
      // Held back until there is more to say.
      guard choice & 8 == 0 else { continue }
      await say(said, inSegmentsOf: length, by: far)
      said = []
    }
  }

  private func makeClient(of server: RelayServer, voicePort: SocketAddress) -> RelayClient {
    let client = RelayClient(server, voicePort: voicePort) { event in
      guard case .received(let bytes, _) = event else { return }
      _ = BindingMessage(bytes, own: "0123456789012345678901", other: nil)
    }
    client.open(at: "127.0.0.1", identity: nil)
    return client
  }

  // An answer to a request (RFC 8489 section 5), a success or an error.
  private func answer(
    to request: [UInt8],
    with attributes: [UInt8],
    isError: Bool
  ) -> [UInt8] {
    let kind = [request[0] | 0x01, request[1] | (isError ? 0x10 : 0)]
    let length = [UInt8(attributes.count >> 8), UInt8(attributes.count & 0xFF)]
    return kind + length + request[4...] + attributes
  }

  // Takes whole messages from what the client has said; the header of the last request among them,
  // nil if there is none.
  private func takeLastRequest(from heard: inout [UInt8]) -> [UInt8]? {
    var found: [UInt8]?
    while true {
      let length = unsafe re_relay_frame(heard, heard.count)
      guard length > 0, length <= heard.count else { return found }
      // No channel data, no response and no indication.
      let isRequest = heard[0] & 0xC1 == 0 && heard[1] & 0x10 == 0
      if isRequest, length >= 20 { found = Array(heard.prefix(20)) }
      heard.removeFirst(length)
    }
  }

  // Sends a check to a far side, which has the voice from then on.
  private func send(by client: RelayClient, to far: SocketAddress?) {
    guard let far, let check = unsafe re_relay_buffer([0, 1, 0, 0], 4) else { return }
    defer { _ = unsafe mem_deref(check) }
    client.farSide = far
    unsafe client.send(check, to: far)
  }
}
