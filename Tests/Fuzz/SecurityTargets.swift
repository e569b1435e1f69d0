import MediaCore
import UDPTransport
@testable import CallSecurity
@testable import SRTP

private let address = SocketAddress(host: "192.0.2.1", port: 4_000)
private let other = SocketAddress(host: "192.0.2.2", port: 4_002)
/// The identity of this side; nil without randomness.
let identity = try? Identity.make()

/// The user's key and certificate, as another program or a failing disk may have left them.
func fuzzIdentity(_ bytes: [UInt8]) {
  guard let found = try? Identity(pem: bytes), let address else { return }
  // What is taken has to be good for handshakes.
  _ = try? MediaHandshake(found, towards: address)
}

/// Both sides of a handshake: one that waits, and one that has begun.
func fuzzHandshake(_ bytes: [UInt8]) {
  guard let identity, let address, let other else { return }
  var source = ByteSource(bytes)
  var waiting = MediaHandshake(waitingWith: identity)
  guard var begun = try? MediaHandshake(identity, towards: address) else { return }
  let expected = MediaHandshake.Expectation(
    fingerprint: identity.fingerprint,
    exchangesWords: source.byte() & 1 != 0
  )
  let choice = source.byte()
  if choice & 1 != 0 {
    let control = choice & 2 != 0 ? other : address
    waiting.expect(expected, at: address, control: control)
    begun.expect(expected, at: address, control: control)
  }
  for _ in 0..<16 where !source.isAtEnd {
    let sender = source.byte() & 1 != 0 ? address : other
    let datagram = MediaSocket.Datagram(bytes: source.chunk(limit: 1_500), source: sender)
    waiting.receive(datagram)
    begun.receive(datagram)
    // What one says reaches the other, so that damage in later flights is met as well.
    for said in begun.takeOutgoing() {
      waiting.receive(MediaSocket.Datagram(bytes: said.bytes, source: address))
    }
    for said in waiting.takeOutgoing() {
      begun.receive(MediaSocket.Datagram(bytes: said.bytes, source: address))
    }
    waiting.tick()
    begun.tick()
  }
}

/// Protected packets, of both ciphers, with the right keys and damaged.
func fuzzSRTP(_ bytes: [UInt8]) {
  var source = ByteSource(bytes)
  let profile: SRTPProfile = source.byte() & 1 != 0 ? .aeadAES128GCM : .aes128CMSHA1Tag80
  guard let keys = try? SRTPKeys.toItself(profile),
    var receiver = try? SRTPReceiver(profile, keys.remote),
    var sender = try? SRTPSender(profile, keys.local)
  else { return }
  var datagram = ByteBuffer(repeating: 0, count: 1_500 + SRTPSender.overhead)
  for _ in 0..<32 where !source.isAtEnd {
    let choice = source.byte()
    let packet = source.chunk(limit: 1_500)
    for (place, byte) in packet.enumerated() { datagram[place] = byte }
    var length = packet.count
    if choice & 1 != 0 {
      length = sender.protect(&datagram, length: length) ?? length
      if choice & 2 != 0, length > 0 { datagram[Int(source.byte()) % length] ^= source.byte() }
    }
    _ = receiver.unprotect(&datagram, length: length)
  }
}
