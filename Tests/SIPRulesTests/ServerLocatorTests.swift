import MediaCore
import Testing

@testable import SIPRules

/// The order in which a domain's servers are tried (RFC 3263, RFC 2782).
struct ServerLocatorTests {
  private typealias Service = ServerLocator.Service
  private var generator = SeededGenerator(seed: 7)

  private func authority(
    _ order: Int,
    _ preference: Int,
    _ service: String,
    _ replacement: String,
    flags: String = "s"
  ) -> ServerLocator.NamingAuthority {
    ServerLocator.NamingAuthority(
      order: order,
      preference: preference,
      flags: flags,
      service: service,
      replacement: replacement
    )
  }

  @Test func numericHostIsItsOwnServer() {
    let locator = ServerLocator(host: "192.0.2.1", port: nil, transport: .tls)
    #expect(locator.question == nil)
    #expect(locator.servers.map(\.description) == ["192.0.2.1:5061 by TLS"])
    let other = ServerLocator(host: "2001:db8::1", port: 5_070, transport: nil)
    #expect(other.servers.map(\.description) == ["[2001:db8::1]:5070 by UDP"])
  }

  @Test mutating func portLeavesNothingToTheRecords() {
    var locator = ServerLocator(host: "sip.example.org", port: 5_071, transport: .tls)
    #expect(locator.question == .addresses("sip.example.org"))
    locator.answer(addresses: ["192.0.2.1", "2001:db8::1"])
    #expect(locator.question == nil)
    #expect(locator.servers.map(\.address) == ["192.0.2.1", "2001:db8::1"])
    #expect(locator.servers.allSatisfy { $0.port == 5_071 && $0.transport == .tls })
  }

  @Test mutating func transportAsksForItsServicesAndFallsBackToTheHost() {
    var locator = ServerLocator(host: "example.org", port: nil, transport: .tls)
    #expect(locator.question == .services("_sips._tcp.example.org"))
    locator.answer([Service](), using: &generator)
    #expect(locator.question == .addresses("example.org"))
    locator.answer(addresses: ["192.0.2.9"])
    #expect(locator.servers.map(\.description) == ["example.org (192.0.2.9:5061) by TLS"])
  }

  @Test mutating func recordsOfTheDomainComeInTheirOrder() {
    var locator = ServerLocator(host: "example.org", port: nil, transport: nil)
    #expect(locator.question == .namingAuthorities("example.org"))
    locator.answer([
      authority(20, 10, "SIP+D2U", "_sip._udp.example.org"),
      authority(10, 20, "SIP+D2T", "_sip._tcp.example.org"),
      authority(10, 10, "SIPS+D2T", "_sips._tcp.example.org"),
      authority(5, 5, "E2U+sip", "enum.example.org"),
      authority(1, 1, "SIP+D2U", "regular", flags: "u"),
    ])
    #expect(locator.question == .services("_sips._tcp.example.org"))
    locator.answer(
      [
        Service(priority: 20, weight: 0, port: 5_061, target: "b.example.org"),
        Service(priority: 10, weight: 0, port: 5_061, target: "a.example.org"),
      ],
      using: &generator
    )
    #expect(locator.question == .addresses("a.example.org"))
    locator.answer(addresses: ["192.0.2.1"])
    locator.answer(addresses: ["192.0.2.2"])
    #expect(locator.question == .services("_sip._tcp.example.org"))
    locator.answer([Service](), using: &generator)
    #expect(locator.question == .services("_sip._udp.example.org"))
    locator.answer(
      [Service(priority: 1, weight: 1, port: 5_060, target: "c.example.org")],
      using: &generator
    )
    locator.answer(addresses: ["192.0.2.3"])
    #expect(locator.question == nil)
    #expect(locator.servers.map(\.address) == ["192.0.2.1", "192.0.2.2", "192.0.2.3"])
    #expect(locator.servers.map(\.transport) == [.tls, .tls, .udp])
  }

  @Test mutating func domainWithoutRecordsIsGuessed() {
    var locator = ServerLocator(host: "example.org", port: nil, transport: nil)
    locator.answer([ServerLocator.NamingAuthority]())
    let names = ["_sips._tcp.example.org", "_sip._tcp.example.org", "_sip._udp.example.org"]
    for name in names {
      #expect(locator.question == .services(name))
      locator.answer([Service](), using: &generator)
    }
    #expect(locator.question == .addresses("example.org"))
    locator.answer(addresses: [])
    #expect(locator.question == nil && locator.servers.isEmpty)
  }

  /// RFC 2782: a single record with the target "." means that the service is not there.
  @Test mutating func serviceThatIsDeniedIsNotGuessed() {
    var locator = ServerLocator(host: "example.org", port: nil, transport: .tls)
    locator.answer([Service(priority: 0, weight: 0, port: 0, target: ".")], using: &generator)
    #expect(locator.question == nil && locator.servers.isEmpty)
  }

  @Test mutating func serversWithoutAddressesAreNoReasonToAskTheDomain() {
    var locator = ServerLocator(host: "example.org", port: nil, transport: .tls)
    locator.answer(
      [Service(priority: 1, weight: 1, port: 5_061, target: "gone.example.org")],
      using: &generator
    )
    locator.answer(addresses: [])
    #expect(locator.question == nil && locator.servers.isEmpty)
  }

  @Test mutating func weightsShareTheLoad() {
    var first: [String: Int] = [:]
    for _ in 0..<4_000 {
      var locator = ServerLocator(host: "example.org", port: nil, transport: .udp)
      locator.answer(
        [
          Service(priority: 1, weight: 30, port: 1, target: "light"),
          Service(priority: 1, weight: 90, port: 1, target: "heavy"),
          Service(priority: 1, weight: 0, port: 1, target: "idle"),
          Service(priority: 2, weight: 900, port: 1, target: "spare"),
        ],
        using: &generator
      )
      if case .addresses(let host)? = locator.question { first[host, default: 0] += 1 }
    }
    #expect(first["spare"] == nil)
    #expect((2_800...3_150).contains(first["heavy"] ?? 0))
    #expect((1..<120).contains(first["idle"] ?? 0))
  }

  @Test mutating func manyRecordsAreNotFollowedForEver() {
    var locator = ServerLocator(host: "example.org", port: nil, transport: .udp)
    let records = (0..<500).map {
      Service(priority: $0, weight: 1, port: 1, target: "host\($0)")
    }
    locator.answer(records, using: &generator)
    var questions = 0
    while locator.question != nil {
      locator.answer(addresses: (0..<9).map { "192.0.2.\($0)" })
      questions += 1
    }
    #expect(questions <= 16 && locator.servers.count == 16)
  }
}
