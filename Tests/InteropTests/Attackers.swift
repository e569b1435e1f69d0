import ProgramRig
import MediaCore
import Synchronization

/// Records all packets that pass.
final class Eavesdropper: RelayAttacker {
  private let heard = Mutex<[[UInt8]]>([])

  /// All recorded packets, in order.
  var packets: [[UInt8]] { heard.withLock { $0 } }

  func meet(_ packet: [UInt8], from side: Int) -> [(side: Int, packet: [UInt8])] {
    heard.withLock { $0.append(packet) }
    return [(side, packet)]
  }

  /// True if a text passed unencrypted.
  func hasHeard(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return packets.contains { packet in
      packet.indices.contains { packet[$0...].starts(with: bytes) }
    }
  }
}

/// Drops the first datagram from one of the sides that begins with a text.
final class MessageThief: RelayAttacker {
  private let text: [UInt8]
  private let side: Int
  private let state = Mutex(false)

  init(_ text: String, from side: Int) {
    self.text = Array(text.utf8)
    self.side = side
  }

  /// True once the datagram has been dropped.
  var hasStolen: Bool { state.withLock { $0 } }

  func meet(_ packet: [UInt8], from side: Int) -> [(side: Int, packet: [UInt8])] {
    guard side == self.side, let parts = InternetPacket(packet), parts.content == .udp,
      parts.payload.starts(with: text)
    else { return [(side, packet)] }
    let isFirst = state.withLock { hasStolen in
      defer { hasStolen = true }
      return !hasStolen
    }
    return isFirst ? [] : [(side, packet)]
  }
}

/// Drops all TCP packets to a port.
final class Blockade: RelayAttacker {
  private let port: UInt16

  init(port: UInt16) {
    self.port = port
  }

  func meet(_ packet: [UInt8], from side: Int) -> [(side: Int, packet: [UInt8])] {
    let parts = InternetPacket(packet)
    return parts?.content == .tcp && parts?.destinationPort == port ? [] : [(side, packet)]
  }
}

/// Drops the handshakes of TLS (over TCP) or of DTLS (over UDP).
final class HandshakeThief: RelayAttacker {
  private let content: InternetPacket.Content

  init(_ content: InternetPacket.Content) {
    self.content = content
  }

  func meet(_ packet: [UInt8], from side: Int) -> [(side: Int, packet: [UInt8])] {
    guard let parts = InternetPacket(packet), parts.content == content else {
      return [(side, packet)]
    }
    // Connections are opened, and no more; of datagrams, those of DTLS are dropped (RFC 7983).
    let isStolen =
      content == .tcp
      ? packet.count > 100 : (20...63).contains(parts.payload.first ?? 0)
    return isStolen ? [] : [(side, packet)]
  }
}

/// Sends the callee a BYE in the caller's name once a call is answered with unencrypted signalling.
///
/// It comes from another port of the caller's host.
final class Terminator: RelayAttacker {
  private let goodbyes = Mutex(0)

  /// Number of BYEs sent.
  var sent: Int { goodbyes.withLock { $0 } }

  func meet(_ packet: [UInt8], from side: Int) -> [(side: Int, packet: [UInt8])] {
    guard let parts = InternetPacket(packet), parts.content == .udp else { return [(side, packet)] }
    let text = String(decoding: parts.payload, as: UTF8.self)
    guard text.hasPrefix("SIP/2.0 200"), text.contains("INVITE") else { return [(side, packet)] }
    goodbyes.withLock { $0 += 1 }
    let kept = text.split(separator: "\r\n").filter { line in
      ["From:", "To:", "Call-ID:", "f:", "t:", "i:"].contains { line.hasPrefix($0) }
    }
    let lines =
      [
        "BYE sip:bob@callee SIP/2.0", "Via: SIP/2.0/UDP caller:9999;branch=z9hG4bKforged;rport",
        "Max-Forwards: 70", "CSeq: 4711 BYE", "Content-Length: 0",
      ] + kept.map(String.init) + ["", ""]
    let goodbye = InternetPacket(
      from: (parts.destination, 9_999),
      to: (parts.source, parts.sourcePort),
      Array(lines.joined(separator: "\r\n").utf8)
    )
    return [(side, packet), (1 - side, goodbye.bytes)]
  }
}

/// Adds to each RTP or RTCP packet a copy, one with a flipped bit, two with noise, an RTCP BYE and
/// an older packet.
///
/// One of the noisy packets has the sender's SSRC. An ICMP message tells the sender that the port
/// is closed.
final class Forger: RelayAttacker {
  private struct State {
    var random = SeededGenerator(seed: 1)
    var past: [[UInt8]] = []
    var added = 0
    var sequence: UInt16 = 0
  }

  private let state = Mutex(State())

  /// Number of packets added so far, without ICMP messages.
  var added: Int { state.withLock { $0.added } }

  func meet(_ packet: [UInt8], from side: Int) -> [(side: Int, packet: [UInt8])] {
    guard let parts = InternetPacket(packet), parts.content == .udp, parts.payload.count > 20,
      parts.payload[0] >> 6 == 2
    else { return [(side, packet)] }
    return state.withLock { state in
      var sent = [(side, packet)]
      for forged in forge(parts, &state) {
        sent.append((side, forged.bytes))
        state.added += 1
      }
      if state.past.count > 40, let old = state.past.randomElement(using: &state.random) {
        sent.append((side, old))
        state.added += 1
      }
      state.past.append(packet)
      if state.past.count > 2_000 { state.past.removeFirst() }
      // The host seems to say that its port is closed (RFC 792, type 3, code 3).
      let refusal = InternetPacket(
        from: parts.destination,
        to: parts.source,
        type: 3,
        code: 3,
        Array(packet.prefix(28))
      )
      sent.append((1 - side, refusal.bytes))
      return sent.map { (side: $0.0, packet: $0.1) }
    }
  }

  private func forge(_ parts: InternetPacket, _ state: inout State) -> [InternetPacket] {
    var copy = parts
    var flipped = parts
    let bit = Int.random(in: 0..<flipped.payload.count * 8, using: &state.random)
    flipped.payload[bit / 8] ^= 1 << UInt8(bit % 8)
    // As the source, with a number far away, and noise for a voice.
    var noise = parts
    state.sequence &+= 20_011
    noise.payload[2] = UInt8(state.sequence >> 8)
    noise.payload[3] = UInt8(truncatingIfNeeded: state.sequence)
    for place in 12..<noise.payload.count {
      noise.payload[place] = UInt8.random(in: 0...255, using: &state.random)
    }
    // As another source, and RTCP's goodbye of the real one, in the open.
    var other = noise
    other.payload[8] ^= 0xff
    other.sourcePort ^= 1
    var goodbye = parts
    goodbye.payload = [0x80, 201, 0, 1] + parts.payload[8..<12]
    goodbye.payload += [0x81, 203, 0, 1] + parts.payload[8..<12]
    copy.payload = parts.payload
    return [copy, flipped, noise, other, goodbye]
  }
}
