import CLibre
import ICE
import Testing
import UDPTransport

@testable import SIPSignalling

/// STUN Binding messages, written and read by libre.
struct BindingMessageTests {
  private static func bytes(_ message: BindingMessage, password: String?) throws -> [UInt8] {
    let buffer = unsafe try #require(message.encode(signedWith: password))
    defer { _ = unsafe mem_deref(buffer) }
    return unsafe Array(
      UnsafeBufferPointer(start: mbuf_buf(buffer), count: mbuf_get_left(buffer))
    )
  }

  private static func request() throws -> BindingMessage {
    var message = BindingMessage(.request, transaction: Array(1...12))
    message.username = "theirs:ours"
    message.priority = 1_862_270_975
    message.role = .controlled
    message.tiebreaker = 0x0102_0304_0506_0708
    return message
  }

  @Test func whatIsWrittenIsRead() throws {
    var request = try Self.request()
    let bytes = try Self.bytes(request, password: "password")
    request.isAuthentic = true
    #expect(BindingMessage(bytes, own: "password", other: nil) == request)

    var answer = BindingMessage(.success, transaction: request.transaction)
    answer.mapped = SocketAddress(host: "2001:db8::7", port: 5_004)
    let written = try Self.bytes(answer, password: "password")
    answer.isAuthentic = true
    #expect(BindingMessage(written, own: "other", other: "password") == answer)

    let refusal = BindingMessage(.failure(487), transaction: request.transaction)
    let unsigned = try Self.bytes(refusal, password: nil)
    #expect(BindingMessage(unsigned, own: "", other: nil) == refusal)
  }

  @Test func anotherPasswordIsNoSignature() throws {
    let bytes = try Self.bytes(Self.request(), password: "password")
    #expect(BindingMessage(bytes, own: "passwort", other: "password")?.isAuthentic == false)
  }

  /// RFC 5769 section 2.1: a request with its password, user name, priority and tie-breaker.
  @Test func theRequestOfTheStandardIsRead() throws {
    let bytes: [UInt8] = [
      0x00, 0x01, 0x00, 0x58, 0x21, 0x12, 0xa4, 0x42, 0xb7, 0xe7, 0xa7, 0x01, 0xbc, 0x34, 0xd6,
      0x86, 0xfa, 0x87, 0xdf, 0xae, 0x80, 0x22, 0x00, 0x10, 0x53, 0x54, 0x55, 0x4e, 0x20, 0x74,
      0x65, 0x73, 0x74, 0x20, 0x63, 0x6c, 0x69, 0x65, 0x6e, 0x74, 0x00, 0x24, 0x00, 0x04, 0x6e,
      0x00, 0x01, 0xff, 0x80, 0x29, 0x00, 0x08, 0x93, 0x2f, 0xf9, 0xb1, 0x51, 0x26, 0x3b, 0x36,
      0x00, 0x06, 0x00, 0x09, 0x65, 0x76, 0x74, 0x6a, 0x3a, 0x68, 0x36, 0x76, 0x59, 0x20, 0x20,
      0x20, 0x00, 0x08, 0x00, 0x14, 0x9a, 0xea, 0xa7, 0x0c, 0xbf, 0xd8, 0xcb, 0x56, 0x78, 0x1e,
      0xf2, 0xb5, 0xb2, 0xd3, 0xf2, 0x49, 0xc1, 0xb5, 0x71, 0xa2, 0x80, 0x28, 0x00, 0x04, 0xe5,
      0x7a, 0x3b, 0xcf,
    ]
    let message = try #require(
      BindingMessage(bytes, own: "VOkJxbRl1RmTxUk/WvJxBt", other: nil)
    )
    #expect(message.isAuthentic && message.username == "evtj:h6vY")
    #expect(message.priority == 0x6e00_01ff && message.role == .controlled)
    #expect(message.tiebreaker == 0x932f_f9b1_5126_3b36)
    // Each byte counts: for the signature, the checksum, or the form.
    for place in bytes.indices {
      var changed = bytes
      changed[place] ^= 0x10
      let read = BindingMessage(changed, own: "VOkJxbRl1RmTxUk/WvJxBt", other: nil)
      #expect(read?.isAuthentic != true, "byte \(place)")
    }
    for length in bytes.indices {
      #expect(BindingMessage(Array(bytes[..<length]), own: "", other: nil) == nil)
    }
  }

  @Test func candidatesAreWrittenAndRead() throws {
    let address = try #require(SocketAddress(host: "203.0.113.7", port: 40_000))
    let own = try #require(SocketAddress(host: "192.168.1.2", port: 5_004))
    let candidate = ICECandidate(.serverReflexive, address, priority: 1_694_498_815, related: own)
    #expect(
      candidate.attribute
        == candidate.foundation
        + " 1 UDP 1694498815 203.0.113.7 40000 typ srflx raddr 192.168.1.2 rport 5004"
    )
    let read = ICECandidate(
      attribute: "foo/1 1 udp 2122260223 2001:db8::5 9 typ host generation 0 network-id 1"
    )
    #expect(read?.address == SocketAddress(host: "2001:db8::5", port: 9) && read?.kind == .host)
  }

  @Test(arguments: [
    "1 2 udp 1 192.0.2.1 9 typ host", "1 1 tcp 1 192.0.2.1 9 typ host tcptype active",
    "1 1 udp 1 0b1c2d3e.local 9 typ host", "1 1 udp 1 224.0.0.1 9 typ host",
    "1 1 udp 1 255.255.255.255 9 typ host", "1 1 udp 1 192.0.2.1 0 typ host",
    "1 1 udp 1 0.0.0.0 9 typ host", "1 1 udp 1 192.0.2.1 9 typ odd", "", "1 1 udp",
    "1 1 udp 99999999999999999999 192.0.2.1 99999999 typ host", "1 1 udp 1 ff02::1 9 typ host",
  ])
  func whatIsNoAddressOfOneHostIsLeftOut(attribute: String) {
    let read = ICECandidate(attribute: attribute)
    #expect(read == nil || read?.address.port != 0 && attribute.contains("99999999"))
  }

  @Test func relaysAreNamedByTheirURIs() throws {
    let plain = try RelayServer("turn:relay.example.org", login: "alice")
    #expect(plain.port == 3_478 && plain.transport == .udp)
    let secure = try RelayServer("turns:[2001:db8::1]:443", login: "alice", password: "secret")
    #expect(secure.host == "2001:db8::1" && secure.transport == .tls)
    #expect("\(secure)" == "turns:[2001:db8::1]:443" && !"\(secure)".contains("secret"))
    let connected = try RelayServer("TURN:192.0.2.1?transport=TCP", login: "alice")
    #expect(connected.uri == "turn:192.0.2.1:3478?transport=tcp")
    for text in ["stun:host", "turn:", "turn:a@b", "turn:host?transport=sctp", "host", ""] {
      #expect(throws: SIPError.self) { try RelayServer(text, login: "alice") }
    }
  }
}
