import MediaCore
import Simulation
import NetworkAddress

@testable import ICE

/// A router between a machine and the internet, as RFC 4787 describes its kinds.
struct Router {
  enum Kind: CaseIterable {
    /// No router: the machine has a public address.
    case none
    /// One port for all destinations, open to every sender.
    case fullCone
    /// One port for all destinations, open to addresses that something was sent to.
    case restricted
    /// One port for each destination, open to that address alone.
    case symmetric
    /// No direct path: only the relay is reachable.
    case closed
  }

  let kind: Kind
  let outside: String
  private var mappings: [(inside: SocketAddress, destination: SocketAddress?, port: UInt16)] = []
  private var permitted: [(port: UInt16, destination: SocketAddress)] = []
  private var nextPort: UInt16 = 40_000

  init(_ kind: Kind, outside: String) {
    self.kind = kind
    self.outside = outside
  }

  mutating func translate(
    from inside: SocketAddress,
    to destination: SocketAddress
  ) -> SocketAddress? {
    if kind == .none { return inside }
    if kind == .closed { return nil }
    let known = mappings.first {
      $0.inside == inside && (kind != .symmetric || $0.destination == destination)
    }
    let port = known?.port ?? nextPort
    if known == nil {
      nextPort += 1
      mappings.append((inside, destination, port))
    }
    permitted.append((port, destination))
    return SocketAddress(host: outside, port: port)
  }

  func admit(from source: SocketAddress, to address: SocketAddress) -> SocketAddress? {
    if kind == .none { return address }
    guard address.host == outside,
      let inside = mappings.first(where: { $0.port == address.port })?.inside
    else { return nil }
    let isPermitted =
      kind == .fullCone
      || permitted.contains { $0.port == address.port && $0.destination == source }
    return isPermitted ? inside : nil
  }
}

/// Two agents with routers, a STUN server and a relay between them, in virtual time.
struct ICEScene {
  struct Side {
    var agent: ICEAgent
    var router: Router
    let inside: String
    let relay: SocketAddress
    var paths: [ICEPath] = []
    var isGathered = false
    /// True once a candidate is to be offered that came late.
    var hasLateCandidate = false
    var hasFailed = false
    var hasExpired = false
    var selectedAt: Int64?
  }

  private struct Packet {
    let message: BindingMessage
    let password: String?
    let source: SocketAddress
    let destination: SocketAddress
    let at: Int64
  }

  /// Size of a check with its headers; exact enough for a link's rate.
  private static let packetBytes = 130
  static let server = SocketAddress(host: "198.51.100.1", port: 3_478)
  /// Address of the STUN server with IPv6.
  static let newServer = SocketAddress(host: "2001:db8:51::1", port: 3_478)
  private let relayHost: String
  private(set) var now: Int64 = 0
  var sides: [Side]
  private var packets: [Packet] = []
  private var generator = SeededGenerator(seed: 7)
  /// Share of the packets that is lost, 0 to 1.
  var loss = 0.0
  /// The networks that each side sends through, in place of `loss` and `delay`; empty without.
  var networks: [EmulatedNetwork] = []
  var delay: Int64 = 20_000_000
  /// True if only relayed packets arrive.
  var isDirectWayClosed = false
  /// Additional delay of relayed packets, in nanoseconds.
  var relayDelay: Int64 = 10_000_000
  private(set) var sent = 0

  init(
    _ first: Router.Kind,
    _ second: Router.Kind,
    relays: Bool = true,
    lateRelays: Set<Int> = [],
    servers: Bool = true,
    roles: [ICERole] = [.controlling, .controlled],
    isOneNetwork: Bool = false,
    isIPv6: Bool = false
  ) {
    let relayHost = isIPv6 ? "2001:db8:51::2" : "198.51.100.2"
    self.relayHost = relayHost
    let server = isIPv6 ? Self.newServer : Self.server
    sides = zip([first, second], 0...).map { kind, index in
      let outside = (isIPv6 ? "2001:db8:113::" : "203.0.113.") + "\(isOneNetwork ? 1 : index + 1)"
      let local = isOneNetwork ? (1, index + 2) : (index + 2, 2)
      let inside =
        kind == .none
        ? outside : isIPv6 ? "fd00:\(local.0)::\(local.1)" : "192.168.\(local.0).\(local.1)"
      var generator = SeededGenerator(seed: UInt64(index + 1))
      let agent = ICEAgent(
        roles[index],
        hosts: [Self.address(inside, 5_004)],
        credentials: .random(using: &generator),
        tiebreaker: generator.next(),
        servers: servers ? [server].compactMap { $0 } : [],
        hasRelay: relays,
        randomness: SeededGenerator(seed: generator.next())
      )
      return Side(
        agent: agent,
        router: Router(kind, outside: outside),
        inside: inside,
        relay: Self.address(relayHost, UInt16(50_000 + index))
      )
    }
    for index in sides.indices {
      handle(.started, at: index)
      if relays, !lateRelays.contains(index) { handle(.relayed(sides[index].relay), at: index) }
    }
  }

  static func address(_ host: String, _ port: UInt16) -> SocketAddress {
    guard let address = SocketAddress(host: host, port: port) else {
      preconditionFailure("no address: \(host)")
    }
    return address
  }

  mutating func handle(_ event: ICEAgent.Event, at index: Int) {
    let effects = sides[index].agent.handle(event, at: MonotonicInstant(nanoseconds: now))
    for effect in effects {
      switch effect {
      case .send(let message, let password, let destination, let base):
        send(message, password, to: destination, by: base, of: index)
      case .gathered:
        if sides[index].isGathered { sides[index].hasLateCandidate = true }
        sides[index].isGathered = true
      case .selected(let path):
        sides[index].paths.append(path)
        sides[index].selectedAt = sides[index].selectedAt ?? now
      case .failed: sides[index].hasFailed = true
      case .consentExpired: sides[index].hasExpired = true
      }
    }
  }

  private mutating func send(
    _ message: BindingMessage,
    _ password: String?,
    to destination: SocketAddress,
    by base: ICEOutlet,
    of index: Int
  ) {
    sent += 1
    guard generator.unit() >= loss else { return }
    let inside = Self.address(sides[index].inside, 5_004)
    let isLocal = ["192.168.", "fd00:"].contains { destination.host.hasPrefix($0) }
    // Two machines of one network reach each other without the router.
    let source =
      base == .relay
      ? sides[index].relay
      : isLocal ? inside : sides[index].router.translate(from: inside, to: destination)
    guard let source else { return }
    let isByRelay = base == .relay || destination.host == relayHost
    guard isByRelay || !isDirectWayClosed else { return }
    for at in arrivals(ofPacketBy: index) {
      packets.append(
        Packet(
          message: message,
          password: password,
          source: source,
          destination: destination,
          at: at + (isByRelay ? relayDelay : 0)
        )
      )
    }
  }

  // None for a packet that is lost, two for one that is doubled.
  private mutating func arrivals(ofPacketBy index: Int) -> [Int64] {
    guard !networks.isEmpty else { return [now + delay] }
    let fate = networks[index].fate(
      sentAt: MonotonicInstant(nanoseconds: now),
      byteCount: Self.packetBytes
    )
    return [fate.arrival, fate.copy].compactMap { $0?.nanoseconds }
  }

  // All but the number of the host.
  private static func network(of address: SocketAddress) -> Substring {
    let end = address.host.lastIndex { $0 == "." || $0 == ":" } ?? address.host.endIndex
    return address.host[..<end]
  }

  private mutating func deliver(_ packet: Packet) {
    if [Self.server, Self.newServer].contains(packet.destination) {
      var answer = BindingMessage(.success, transaction: packet.message.transaction)
      answer.mapped = packet.source
      // It takes the way of what the other side sends.
      let isOfFirst = packet.source.host == sides[0].router.outside
      for at in arrivals(ofPacketBy: isOfFirst ? 1 : 0) {
        packets.append(
          Packet(
            message: answer,
            password: nil,
            source: packet.destination,
            destination: packet.source,
            at: at
          )
        )
      }
      return
    }
    for index in sides.indices {
      if packet.destination == sides[index].relay {
        return receive(packet, at: index, by: .relay)
      }
      let inside = Self.address(sides[index].inside, 5_004)
      let sameNetwork = Self.network(of: packet.source) == Self.network(of: inside)
      if packet.destination == inside, sameNetwork || sides[index].router.kind == .none {
        return receive(packet, at: index, by: .socket)
      }
      let isOutside = packet.destination.host == sides[index].router.outside
      if isOutside,
        sides[index].router.admit(from: packet.source, to: packet.destination) == inside
      {
        return receive(packet, at: index, by: .socket)
      }
    }
  }

  private mutating func receive(_ packet: Packet, at index: Int, by base: ICEOutlet) {
    var message = packet.message
    let agent = sides[index].agent
    let expected = message.kind == .request ? agent.localPassword : agent.remotePassword
    message.isAuthentic = packet.password != nil && packet.password == expected
    handle(.received(message, from: packet.source, at: base), at: index)
  }

  /// Lets `seconds` of virtual time pass.
  mutating func run(seconds: Double) {
    let end = now + Int64(seconds * 1e9)
    while true {
      let deadlines = sides.compactMap { $0.agent.deadline?.nanoseconds }
      guard let next = (packets.map(\.at) + deadlines).min(), next <= end else { break }
      now = max(now, next)
      if let place = packets.indices.min(by: { packets[$0].at < packets[$1].at }),
        packets[place].at <= now
      {
        deliver(packets.remove(at: place))
      }
      for index in sides.indices {
        guard let due = sides[index].agent.deadline, due.nanoseconds <= now else { continue }
        handle(.timePassed, at: index)
      }
    }
    now = end
  }

  /// Gathers candidates, then exchanges the descriptions as an INVITE and its answer do.
  mutating func connect(seconds: Double = 10) {
    run(seconds: 3)
    let descriptions = sides.map(\.agent.description)
    handle(.described(descriptions[0]), at: 1)
    run(seconds: 0.02)
    handle(.described(descriptions[1]), at: 0)
    for index in sides.indices { handle(.confirmed, at: index) }
    run(seconds: seconds)
  }

  /// Time until the slower side selected its path, in milliseconds since the first description was
  /// delivered; nil before.
  var milliseconds: Int64? {
    guard let first = sides[0].selectedAt, let second = sides[1].selectedAt else { return nil }
    return (max(first, second) - 3_000_000_000) / 1_000_000
  }

  /// True if both sides have selected a relayed path, or both a direct one.
  var agrees: Bool {
    guard let first = sides[0].paths.last, let second = sides[1].paths.last else { return false }
    return (first.base == .relay || first.remoteKind == .relayed)
      == (second.base == .relay || second.remoteKind == .relayed)
  }

  /// True if either side's path goes through a relay.
  var isRelayed: Bool {
    sides.compactMap(\.paths.last).contains { $0.base == .relay || $0.remoteKind == .relayed }
  }
}
