import Glibc

/// Strangers that send more than any machine could handle, from an address of their own.
///
/// **Thread safety:** one thread runs it.
package struct Flood: ~Copyable {
  /// Sending rates of a flood, per second.
  package struct Rates {
    var invites = 5_000
    var datagrams = 50_000
    var connections = 2_000

    /// Creates the default rates, about as many as a machine can send.
    package init() {}
  }

  /// INVITEs sent so far.
  package private(set) var invites = 0
  /// Datagrams of noise sent so far, to the signalling and the media port in turn.
  package private(set) var datagrams = 0
  /// Connections opened so far, to the ports of TCP and TLS in turn.
  package private(set) var connections = 0
  /// Numbers of responses to the INVITEs, by status code.
  package private(set) var answers: [String: Int] = [:]

  private let host: String
  private let signalling: UInt16
  private let media: UInt16
  private let descriptor: Int32
  private let own: UInt16
  private let noise = [UInt8](repeating: 0x80, count: 172)

  /// Creates a flood from `host`, a numeric address of this machine, to two ports of 127.0.0.1; TLS
  /// is expected at the port after `signalling`.
  ///
  /// Throws a `RigError` if no socket can be bound to `host`.
  package init(from host: String, signalling: Int, media: Int) throws {
    self.host = host
    self.signalling = UInt16(signalling)
    self.media = UInt16(media)
    descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    own = UInt16.random(in: 20_000...30_000)
    guard LoopbackSocket.bind(descriptor, to: own, at: host) else {
      throw RigError("no socket at \(host):\(own)")
    }
  }

  deinit { close(descriptor) }

  private mutating func sendInvite() {
    invites += 1
    let text = [
      "INVITE sip:bob@127.0.0.1 SIP/2.0",
      "Via: SIP/2.0/UDP \(host):\(own);branch=z9hG4bKf\(invites)",
      "From: <sip:mallory@\(host)>;tag=\(invites)", "To: <sip:bob@127.0.0.1>",
      "Call-ID: flood-\(invites)", "CSeq: 1 INVITE", "Contact: <sip:mallory@\(host):\(own)>",
      "Max-Forwards: 70", "Content-Length: 0", "", "",
    ]
    .joined(separator: "\r\n")
    _ = LoopbackSocket.send(Array(text.utf8), to: signalling, from: descriptor)
  }

  private mutating func sendDatagrams(_ count: Int) {
    for _ in 0..<count {
      datagrams += 1
      _ = LoopbackSocket.send(noise, to: datagrams % 2 == 0 ? media : signalling, from: descriptor)
    }
  }

  // Opens one and says nothing; the next one closes it.
  private mutating func connect(_ held: inout [Int32]) {
    connections += 1
    let connection = socket(
      AF_INET,
      Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue),
      0
    )
    guard connection >= 0 else { return }
    _ = LoopbackSocket.bind(connection, to: 0, at: host)
    LoopbackSocket.connect(connection, to: connections % 2 == 0 ? signalling : signalling + 1)
    held.append(connection)
    if held.count > 200 { close(held.removeFirst()) }
  }

  private mutating func takeAnswers() {
    var bytes = [UInt8](repeating: 0, count: 2_048)
    while true {
      let length = unsafe recv(descriptor, &bytes, bytes.count, 0)
      guard length > 11 else { return }
      answers[String(decoding: bytes[8..<11], as: UTF8.self), default: 0] += 1
    }
  }

  /// Sends for `seconds` at even intervals, as far as this machine can.
  package mutating func run(seconds: Double, _ rates: Rates = Rates()) {
    let clock = ContinuousClock()
    let begin = clock.now
    let sent = (invites: invites, datagrams: datagrams, connections: connections)
    var held: [Int32] = []
    var waiting = pollfd(fd: descriptor, events: 0, revents: 0)
    while clock.now - begin < .seconds(seconds) {
      let passed = (clock.now - begin) / .seconds(1)
      func due(_ rate: Int, since count: Int) -> Int { count + Int(Double(rate) * passed) }
      while invites < due(rates.invites, since: sent.invites) { sendInvite() }
      sendDatagrams(due(rates.datagrams, since: sent.datagrams) - datagrams)
      while connections < due(rates.connections, since: sent.connections) { connect(&held) }
      takeAnswers()
      _ = unsafe poll(&waiting, 1, 1)
    }
    for connection in held { close(connection) }
    takeAnswers()
  }
}
