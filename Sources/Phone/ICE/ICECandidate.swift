package import UDPTransport

/// By which way a packet leaves this machine, and a packet comes in.
package enum ICEOutlet: Hashable, Sendable {
  /// The call's own port.
  case socket
  /// The address that a TURN server holds for the call.
  case relay
}

/// An address at which one side may be reached (RFC 8445 section 5.1).
package struct ICECandidate: Equatable, Sendable {
  /// Where a candidate comes from.
  package enum Kind: String, Equatable, Sendable, CaseIterable {
    /// An address of the machine itself.
    case host
    /// The address that a STUN server sees.
    case serverReflexive = "srflx"
    /// An address that only the far side sees.
    case peerReflexive = "prflx"
    /// An address at a TURN server.
    case relayed = "relay"

    /// RFC 8445 section 5.1.2.2.
    var preference: UInt32 {
      switch self {
      case .host: 126
      case .peerReflexive: 110
      case .serverReflexive: 100
      case .relayed: 0
      }
    }
  }

  /// Where it comes from.
  package let kind: Kind
  /// The address and port.
  package let address: SocketAddress
  /// The larger, the better (RFC 8445 section 5.1.2.1).
  package let priority: UInt32
  /// The address behind it, for a router's or a relay's.
  package let related: SocketAddress?

  /// A candidate with the priority that its side gives it.
  package init(
    _ kind: Kind,
    _ address: SocketAddress,
    priority: UInt32,
    related: SocketAddress? = nil
  ) {
    self.kind = kind
    self.address = address
    self.priority = priority
    self.related = related
  }

  /// A candidate of this side; of several of one kind those with a lower `rank` are better.
  init(_ kind: Kind, _ address: SocketAddress, rank: Int = 0, related: SocketAddress? = nil) {
    self.init(kind, address, priority: Self.priority(kind, rank: rank), related: related)
  }

  static func priority(_ kind: Kind, rank: Int = 0) -> UInt32 {
    let local = UInt32(max(0, 65_535 - rank))
    // The last byte is 256 less the component, which is always the first.
    return kind.preference << 24 | local << 8 | 255
  }

  /// What candidates that fail and succeed together have in common (RFC 8445 section 5.1.1.3).
  package var foundation: String {
    switch kind {
    case .host: "1"
    case .serverReflexive: "2"
    case .peerReflexive: "3"
    case .relayed: "4"
    }
  }
}

/// What the checks of one side are authenticated with.
package struct ICECredentials: Equatable, Sendable {
  /// The user name fragment: 4 to 256 letters, digits, `+` and `/`.
  package let userFragment: String
  /// The password: 22 to 256 of the same.
  package let password: String

  /// Credentials that a description names.
  package init(userFragment: String, password: String) {
    self.userFragment = userFragment
    self.password = password
  }

  private static let characters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
  )

  /// New ones that cannot be guessed, if the generator's numbers cannot.
  package static func random(using generator: inout some RandomNumberGenerator) -> Self {
    func text(_ count: Int) -> String {
      String((0..<count).map { _ in characters.randomElement(using: &generator) ?? "x" })
    }
    return Self(userFragment: text(8), password: text(24))
  }

  /// True if they have the lengths and characters of RFC 8839 section 5.4.
  package var isValid: Bool {
    (4...256).contains(userFragment.count) && (22...256).contains(password.count)
      && (userFragment + password).allSatisfy { Self.characters.contains($0) }
  }
}

/// What a description says about the addresses of one side (RFC 8839).
package struct ICEDescription: Equatable, Sendable {
  /// What checks that come to that side are authenticated with.
  package var credentials: ICECredentials
  /// Where it may be reached.
  package var candidates: [ICECandidate]
  /// True if it sends no checks itself (RFC 8445 section 2.5).
  package var isLite: Bool

  /// A description with the given fields.
  package init(credentials: ICECredentials, candidates: [ICECandidate], isLite: Bool = false) {
    self.credentials = credentials
    self.candidates = candidates
    self.isLite = isLite
  }

  /// The address for far sides that know no checks: the best that others can be expected to see.
  package var defaultCandidate: ICECandidate? {
    candidates.first { $0.kind == .serverReflexive } ?? candidates.first
  }
}
