package import NetworkAddress

/// Base of this side's candidates, at which packets are sent and received.
package enum ICEOutlet: Hashable, Sendable {
  /// The call's own port.
  case socket
  /// The address that a TURN server has allocated for the call.
  case relay
}

/// An address at which one side may be reached (RFC 8445 section 5.1).
package struct ICECandidate: Equatable, Sendable {
  /// The origin of a candidate.
  package enum Kind: String, Equatable, Sendable, CaseIterable {
    /// An address of the machine itself.
    case host
    /// The address that a STUN server sees.
    case serverReflexive = "srflx"
    /// An address that only the far side sees.
    case peerReflexive = "prflx"
    /// An address at a TURN server.
    case relayed = "relay"

    /// Type preference as recommended in RFC 8445 section 5.1.2.2.
    var preference: UInt32 {
      switch self {
      case .host: 126
      case .peerReflexive: 110
      case .serverReflexive: 100
      case .relayed: 0
      }
    }
  }

  /// The origin of the address.
  package let kind: Kind
  /// The address and port.
  package let address: SocketAddress
  /// The priority; larger is better (RFC 8445 section 5.1.2.1).
  package let priority: UInt32
  /// Related address (`raddr`, RFC 8839 section 5.1) of this side's server-reflexive or relayed
  /// candidate; nil for others.
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

  /// Foundation: equal for candidates of the same kind and base (RFC 8445 section 5.1.1.3).
  ///
  /// A far side checks pairs of equal foundations one after another.
  package var foundation: String {
    let type =
      switch kind {
      case .host: "1"
      case .serverReflexive: "2"
      case .peerReflexive: "3"
      case .relayed: "4"
      }
    let base = kind == .serverReflexive || kind == .peerReflexive ? related ?? address : address
    // FNV-1a: an address is longer than what a description should repeat.
    let hash = base.host.utf8.reduce(2_166_136_261 as UInt32) {
      ($0 ^ UInt32($1)) &* 16_777_619
    }
    return type + String(hash, radix: 16)
  }
}

/// The user name fragment and the password that authenticate the checks sent to one side.
package struct ICECredentials: Equatable, Sendable {
  /// The user name fragment: 4 to 256 letters, digits, `+` and `/`.
  package let userFragment: String
  /// The password: 22 to 256 letters, digits, `+` and `/`.
  package let password: String

  /// Credentials that a description names.
  package init(userFragment: String, password: String) {
    self.userFragment = userFragment
    self.password = password
  }

  private static let characters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
  )

  /// Random credentials, which cannot be guessed if the generator's numbers cannot.
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

/// The ICE attributes of one side's session description (RFC 8839).
package struct ICEDescription: Equatable, Sendable {
  /// The credentials that authenticate checks sent to that side.
  package var credentials: ICECredentials
  /// The addresses at which it may be reached.
  package var candidates: [ICECandidate]
  /// True if it sends no checks itself (RFC 8445 section 2.5).
  package var isLite: Bool

  /// A description with the given fields.
  package init(credentials: ICECredentials, candidates: [ICECandidate], isLite: Bool = false) {
    self.credentials = credentials
    self.candidates = candidates
    self.isLite = isLite
  }

  /// Default candidate, for far sides without ICE: the first server-reflexive one, else the first
  /// of all; nil without candidates.
  package var defaultCandidate: ICECandidate? {
    candidates.first { $0.kind == .serverReflexive } ?? candidates.first
  }
}
