import Testing

@testable import NetworkAddress

struct SocketAddressTests {
  @Test(arguments: [
    ("127.0.0.1", 5_060, "127.0.0.1:5060"), ("0.0.0.0", 0, "0.0.0.0:0"),
    ("255.255.255.255", 65_535, "255.255.255.255:65535"), ("::1", 5_060, "[::1]:5060"),
    ("fe80::1", 4_000, "[fe80::1]:4000"), ("::ffff:10.0.0.1", 1, "[::ffff:10.0.0.1]:1"),
  ])
  func numericHostsAreTakenAndReadAsInAURI(host: String, port: Int, text: String) throws {
    let address = try #require(SocketAddress(host: host, port: UInt16(port)))
    #expect(address.description == text)
    #expect(address.storage.port == UInt16(port), "in the order of the network")
    #expect(address == SocketAddress(host: host, port: UInt16(port)))
    #expect(address != SocketAddress(host: host, port: UInt16(port) ^ 1))
  }

  @Test(arguments: [
    "", "localhost", "example.org", "10.0.0", "10.0.0.256", "10.0.0.1.1", "[::1]", ":::", "1::2::3",
    "10.0.0.1 ", "fe80::1%eth0", "0x7f.1",
  ])
  func whatIsNoAddressIsNone(host: String) {
    #expect(SocketAddress(host: host, port: 5_060) == nil)
  }

  @Test func familiesHaveTheirLengths() throws {
    let four = try #require(SocketAddress(host: "10.0.0.1", port: 1))
    let six = try #require(SocketAddress(host: "::1", port: 1))
    #expect(four.storage.length == 16 && six.storage.length == 28)
  }
}
