import NetworkAddress

/// A SIP server with its address and transport.
package struct SIPServer: Equatable, Sendable, CustomStringConvertible {
  /// Name in the DNS; the numeric address if there is none.
  package let name: String
  /// Numeric address.
  package let address: String
  /// Port.
  package let port: UInt16
  /// Transport.
  package let transport: SIPTransport

  /// A server with the given fields.
  package init(name: String, address: String, port: UInt16, transport: SIPTransport) {
    self.name = name
    self.address = address
    self.port = port
    self.transport = transport
  }

  /// The server for display: its name, its address, and its transport.
  package var description: String {
    let numeric = "\(SocketAddress.literal(address)):\(port)"
    let by = "by \(transport.rawValue.uppercased())"
    return name == address ? "\(numeric) \(by)" : "\(name) (\(numeric)) \(by)"
  }

  /// A URI of the server, for the topmost route of a request.
  package var route: String {
    "sip:\(SocketAddress.literal(address)):\(port);transport=\(transport.rawValue)"
  }
}

/// Finds the SIP servers of a domain (RFC 3263 section 4, RFC 2782), without I/O: returns DNS
/// questions one by one, and takes the answers.
///
/// Servers are sorted by order and preference (NAPTR) and by priority (SRV); among those of one
/// priority the order is drawn by weight.
package struct ServerLocator: Equatable, Sendable {
  /// A NAPTR record (RFC 3403), as far as SIP uses it.
  package struct NamingAuthority: Equatable, Sendable {
    package let order: Int
    package let preference: Int
    /// `s` if the replacement is the name of SRV records; records with other flags are ignored.
    package let flags: String
    /// The service with its transport, for example `SIPS+D2T`.
    package let service: String
    package let replacement: String

    /// A record with the given fields.
    package init(
      order: Int,
      preference: Int,
      flags: String,
      service: String,
      replacement: String
    ) {
      self.order = order
      self.preference = preference
      self.flags = flags
      self.service = service
      self.replacement = replacement
    }
  }

  /// An SRV record (RFC 2782).
  package struct Service: Equatable, Sendable {
    package let priority: Int
    package let weight: Int
    package let port: UInt16
    /// The host's name; `.` if the service is not available.
    package let target: String

    /// A record with the given fields.
    package init(priority: Int, weight: Int, port: UInt16, target: String) {
      self.priority = priority
      self.weight = weight
      self.port = port
      self.target = target
    }
  }

  /// A question to the DNS.
  package enum Question: Equatable, Sendable {
    /// The NAPTR records of a domain.
    case namingAuthorities(String)
    /// The SRV records of a name.
    case services(String)
    /// The addresses of a host.
    case addresses(String)
  }

  private enum Step: Equatable {
    case choose
    case find(name: String, SIPTransport)
    case resolve(host: String, port: UInt16, SIPTransport)

    func question(about domain: String) -> Question {
      switch self {
      case .choose: .namingAuthorities(domain)
      case .find(let name, _): .services(name)
      case .resolve(let host, _, _): .addresses(host)
      }
    }
  }

  private let domain: String
  private let transport: SIPTransport?
  private var steps: [Step] = []
  private var hasFallenBack = false
  /// The servers that were found so far, in the order in which to try them.
  package private(set) var servers: [SIPServer] = []

  /// Maximum number of servers to try.
  private static let limit = 16

  /// Looks for the servers of a host or a domain.
  ///
  /// A numeric host is its own server. With a `port` only the host's addresses are queried; with a
  /// `transport` the domain's preferences (NAPTR) are not.
  package init(host: String, port: UInt16?, transport: SIPTransport?) {
    domain = host
    self.transport = transport
    let assumed = transport ?? .udp
    if Self.isNumeric(host) {
      servers = [
        SIPServer(
          name: host,
          address: host,
          port: port ?? assumed.defaultPort,
          transport: assumed
        )
      ]
      hasFallenBack = true
    } else if let port {
      steps = [.resolve(host: host, port: port, assumed)]
      hasFallenBack = true
    } else if let transport {
      steps = [.find(name: Self.serviceName(host, transport), transport)]
    } else {
      steps = [.choose]
    }
  }

  /// The next question; nil once all is known.
  package var question: Question? {
    servers.count < Self.limit ? steps.first?.question(about: domain) : nil
  }

  /// Takes the NAPTR records of the domain; empty if there are none.
  package mutating func answer(_ records: [NamingAuthority]) {
    guard steps.first == .choose else { return }
    steps.removeFirst()
    let usable = records.filter { $0.flags.lowercased() == "s" }
      .sorted { ($0.order, $0.preference) < ($1.order, $1.preference) }
      .compactMap { record in
        Self.transport(ofService: record.service).map { Step.find(name: record.replacement, $0) }
      }
    steps = usable.isEmpty ? Self.guesses(about: domain) : Array(usable.prefix(Self.limit))
  }

  /// Takes the SRV records of a name; empty if there are none.
  package mutating func answer(
    _ records: [Service],
    using generator: inout some RandomNumberGenerator
  ) {
    guard case .find(_, let transport)? = steps.first else { return }
    steps.removeFirst()
    let found = Self.inOrder(records.filter { $0.target != "." && !$0.target.isEmpty }, &generator)
    // Before what is less wished for.
    steps.insert(
      contentsOf: found.prefix(Self.limit).map {
        .resolve(host: $0.target, port: $0.port, transport)
      },
      at: 0
    )
    steps = Array(steps.prefix(Self.limit))
    // A domain that names servers, or says that it has none, is not one itself.
    if !records.isEmpty { hasFallenBack = true }
    fallBack()
  }

  /// Takes the numeric addresses of a host; empty if it has none.
  package mutating func answer(addresses: [String]) {
    guard case .resolve(let host, let port, let transport)? = steps.first else { return }
    steps.removeFirst()
    for address in addresses where servers.count < Self.limit {
      servers.append(SIPServer(name: host, address: address, port: port, transport: transport))
    }
  }

  // Without SRV records the domain is a host.
  private mutating func fallBack() {
    guard steps.isEmpty, servers.isEmpty, !hasFallenBack else { return }
    hasFallenBack = true
    let assumed = transport ?? .udp
    steps = [.resolve(host: domain, port: assumed.defaultPort, assumed)]
  }

  private static func guesses(about domain: String) -> [Step] {
    [SIPTransport.tls, .tcp, .udp].map { .find(name: serviceName(domain, $0), $0) }
  }

  private static func serviceName(_ domain: String, _ transport: SIPTransport) -> String {
    switch transport {
    case .tls: "_sips._tcp.\(domain)"
    case .tcp: "_sip._tcp.\(domain)"
    case .udp: "_sip._udp.\(domain)"
    }
  }

  private static func transport(ofService service: String) -> SIPTransport? {
    switch service.uppercased() {
    case "SIPS+D2T": .tls
    case "SIP+D2T": .tcp
    case "SIP+D2U": .udp
    default: nil
    }
  }

  /// Returns records by priority, and those of equal priority drawn one after the other with a
  /// chance that grows with the weight (RFC 2782, "Weight").
  private static func inOrder(
    _ records: [Service],
    _ generator: inout some RandomNumberGenerator
  ) -> [Service] {
    var ordered: [Service] = []
    for (_, equals) in Dictionary(grouping: records, by: \.priority).sorted(by: { $0.key < $1.key })
    {
      // Those without a weight come first in the drawing, so that they have a small chance.
      var rest = equals.sorted { $0.weight < $1.weight }
      while !rest.isEmpty {
        let drawn = Int.random(in: 0...rest.reduce(0) { $0 + $1.weight }, using: &generator)
        var sum = 0
        let index = rest.firstIndex { record in
          sum += record.weight
          return sum >= drawn
        }
        ordered.append(rest.remove(at: index ?? 0))
      }
    }
    return ordered
  }

  private static func isNumeric(_ host: String) -> Bool {
    if host.contains(":") { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
  }
}
