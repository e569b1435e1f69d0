import CallSecurity
import CLibre
import ProgramRig
import UDPTransport
@testable import SIPSignalling

/// A phone at work, whose far side sends over a connection, so that the phone must find where a
/// message ends.
///
/// Bits of the first byte select the course: TLS if bit 0 is set; the phone ends before the
/// connection does if bit 1 is set; the other bits are the length of a segment, 0 if each record is
/// one. The rest is a list of records as for `fuzzPhone`, of which each may be a part of a message
/// or several.
func fuzzPhoneStream(_ bytes: [UInt8]) {
  let agent = UserAgent(.init(hosts: ["127.0.0.1"], port: 0, user: "alice"))
  finish { await agent.play(stream: bytes) }
  Descriptors.check()
}

extension UserAgent {
  fileprivate func play(stream bytes: [UInt8]) async {
    let how = bytes.first ?? 0
    let transport: SIPTransport = how & 1 != 0 ? .tls : .tcp
    guard let address = open(securedBy: transport == .tls ? identity : nil),
      let far = FarEnd(to: port(of: transport))
    else { return await end() }
    if transport == .tls { far.secure() }
    // It is accepted by then, and each segment is read by itself.
    for _ in 0..<2 { await turn() }
    for _ in 0..<16 where !far.isReady() { await turn() }
    var text = FarSideText(host: far.host, port: far.port)
    let uri = "sip:bob@\(far.host):\(far.port);transport=\(transport.rawValue)"
    for record in bytes.dropFirst().split(separator: 30).prefix(20) {
      if record.count == 1, let letter = record.first {
        _ = take(letter, calling: uri)
      } else {
        await say(text.filled(record), inSegmentsOf: Int(how >> 2), by: far)
      }
      text.note(far.hear())
    }
    if how & 2 == 0 {
      far.end()
      await turn()
    }
    let isAlive = await answersQuestion(at: address)
    precondition(isAlive, "the phone does not answer any more")
    await end()
    // What comes now must not find what has been released.
    await say(Array(SIPQuestion(by: transport.rawValue, from: far.port).text.utf8), by: far)
    far.end()
  }

  /// The port that it listens at, 0 if there is none.
  private func port(of transport: SIPTransport) -> UInt16 {
    guard let stack = stacks.first else { return 0 }
    return unsafe re_transport_port(stack.sip, transport.inLibre, stack.host)
  }

  /// True if it answers others, by UDP at an address, after anything has arrived over the
  /// connection.
  private func answersQuestion(at address: SocketAddress) async -> Bool {
    // No input knows the number: it cannot take the question for its own.
    guard let socket = loopbackSocket() else { return true }
    let question = SIPQuestion(.random(in: 0..<(1 << 60)), by: "udp", from: socket.localPort)
    socket.send(Array(question.text.utf8), to: address)
    for _ in 0..<1_000 {
      await turn()
      while let datagram = socket.receiveDatagram() {
        let answer = String(decoding: datagram.bytes, as: UTF8.self)
        if question.isAnswered(in: answer) { return true }
      }
    }
    return false
  }
}
