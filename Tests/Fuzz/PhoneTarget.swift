import CallSecurity
import CLibre
import UDPTransport
@testable import SIPSignalling

/// A phone at work: messages of the far side, and actions of the user meanwhile.
///
/// The input is a list of records with the byte 30 between. A record of one letter is an action of
/// the user (`UserAgent.take`), any other one a datagram (`FarSideText`).
func fuzzPhone(_ bytes: [UInt8]) {
  let agent = UserAgent(.init(hosts: ["127.0.0.1"], port: 0, user: "alice"))
  finish { await agent.play(bytes) }
}

/// The far side of a phone, which can answer messages that the phone has really sent.
private struct FarSide: ~Copyable {
  private let socket: MediaSocket
  /// Address from which the phone sent last: an account has a port of its own.
  private var phone: SocketAddress
  private var text: FarSideText

  init(_ socket: consuming MediaSocket, phone: SocketAddress) {
    text = FarSideText(host: "127.0.0.1", port: socket.localPort)
    self.socket = socket
    self.phone = phone
  }

  var port: UInt16 { socket.localPort }

  /// Sends a text as a datagram.
  func say(_ record: ArraySlice<UInt8>) { socket.send(text.filled(record), to: phone) }

  /// True if a datagram of the phone waits to be read.
  var isSpokenTo: Bool { socket.peekFirstByte() != nil }

  /// Reads all datagrams that the phone has sent.
  mutating func listen() {
    while let datagram = socket.receiveDatagram() {
      phone = datagram.source
      text.note(datagram.bytes)
    }
  }
}

extension UserAgent {
  fileprivate func play(_ bytes: [UInt8]) async {
    guard let socket = loopbackSocket(), let address = open() else { return }
    var far = FarSide(socket, phone: address)
    for record in bytes.split(separator: 30).prefix(20) {
      if record.count == 1, let letter = record.first {
        let speaksLater = take(letter, calling: "sip:bob@127.0.0.1:\(far.port)")
        for _ in 0..<1_000 where speaksLater && !far.isSpokenTo { await turn() }
      } else {
        far.say(record)
        await turn()
      }
      far.listen()
    }
    await end()
  }

  /// Listens, by TLS as well if there is an identity, and returns the UDP address; nil if there is
  /// no port.
  func open(securedBy identity: Identity? = nil) -> SocketAddress? {
    // Without a port that is free there is nothing to be fuzzed.
    guard let shown = try? start(securing: identity).first,
      let port = shown.split(separator: ":").last
    else { return nil }
    // Without name servers it asks for no name.
    _ = unsafe dnsc_srv_set(names, nil, 0)
    return UInt16(port).flatMap { SocketAddress(host: "127.0.0.1", port: $0) }
  }

  /// Performs an action of the user: one letter of the cases below, with `target` as the URI to
  /// call.
  ///
  /// Returns true if the phone sends something a little later.
  func take(_ letter: UInt8, calling target: String) -> Bool {
    let ids = calls.keys.sorted().map { SIPCallID(rawValue: $0) }
    var offer = MediaOffer(host: "127.0.0.1", port: 4_000, packetMilliseconds: 10)
    switch Character(UnicodeScalar(letter)) {
    case "c":
      _ = try? invite(target, offer: offer)
    case "e":
      offer.encryption = identity.map {
        EncryptionOffer(fingerprint: $0.fingerprint, isRequired: true)
      }
      _ = try? invite(target, offer: offer)
    case "o":
      guard let account = lines.first?.account.address else { break }
      _ = try? invite(target, offer: offer, through: account)
    case "a":
      for id in ids { _ = answer(id, offer: offer) }
    case "h":
      for id in ids { setHeld(id, true) }
    case "u":
      for id in ids { setHeld(id, false) }
    case "q":
      for id in ids { ask(id) }
    case "t":
      for id in ids { transfer(id, to: TransferTarget(uri: target)) }
    case "s":
      for id in ids { reportTransfer(id, status: 200, reason: "OK") }
    case "x":
      for id in ids { hangUp(id) }
    case "r":
      guard lines.isEmpty, let identity, var account = try? SIPAccount(target, password: "secret")
      else { break }
      account.connection = .udp
      account.expires = 60
      add(account, identity: identity)
      return true
    case "m":
      for line in lines { line.subscribeToMessages() }
    default:
      break
    }
    return false
  }

  /// Ends calls and agent at once, since a goodbye would have no answer.
  func end() async {
    for id in calls.keys { hangUp(SIPCallID(rawValue: id)) }
    for stack in stacks { stack.release() }
    stacks = []
    await stop()
  }
}
