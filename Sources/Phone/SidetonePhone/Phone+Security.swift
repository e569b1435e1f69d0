import CallSecurity
import CallStore
public import Foundation
import SIPSignalling
import UDPTransport

/// Recognition of far sides, and encryption.
extension Phone {
  /// Creates the media of a call, which reports its handshake to the phone.
  func makeLeg(_ uuid: UUID, host: String) -> MediaLeg {
    MediaLeg(configuration, host: host, identity: identity) { [weak self] report in
      self?.note(report, of: uuid)
    }
  }

  /// Binds the RTP port of a call unless it is bound.
  func open(_ uuid: UUID) throws {
    guard let leg = calls[uuid]?.leg, !leg.isOpen else { return }
    try leg.open(portPolicy: portPolicy)
    portPolicy = .anyPort
  }

  /// Runs the handshake with a caller while the call rings, so that the answer need not wait.
  func beginHandshake(_ uuid: UUID, _ media: NegotiatedMedia?) async {
    guard let media, media.encryption != nil else { return }
    do {
      try open(uuid)
      try calls[uuid]?.leg.prepare(for: media)
    } catch {
      // The answer will say so, should there be one.
      continuation.yield(.error("\(error)"))
    }
  }

  /// True if a handshake may show a caller this side's address and certificate while it rings.
  ///
  /// A direct caller knows the address already. A caller whom a server passes on waits for the
  /// answer, unless the server vouches for a caller who is remembered.
  func mayShowItself(to caller: Caller, under rule: SecurityRule) -> Bool {
    caller.account == nil || origin(of: caller).isVouchedFor && rule.isRemembered
  }

  /// Returns the security rule for calls with an address.
  ///
  /// Throws if the record of the far side cannot be read: it might require encryption.
  func rule(
    for address: SIPAddress?,
    announced: Fingerprint? = nil,
    isSecureSignallingForced: Bool = false
  ) async throws -> SecurityRule {
    let key = address?.peerKey ?? "anonymous"
    return SecurityRule(
      configuration.security,
      address: key,
      record: try await peers.record(of: key),
      announced: announced,
      isSecureSignallingForced: isSecureSignallingForced
    )
  }

  /// Returns the transport to signal to the far side of a call by, without blocking the actor.
  func transport(of route: CallRoute) async throws -> SIPTransport {
    try await withCheckedThrowingContinuation { continuation in
      Self.waitingRoom.async {
        continuation.resume(with: Result { try route.chooseTransport() })
      }
    }
  }

  /// Remembers the far side of a call at its address.
  ///
  /// A caller may claim any address, so one that the call did not come from is not remembered,
  /// unless an account's server vouches for it.
  func remember(_ address: String, _ fingerprint: Fingerprint?, of uuid: UUID) async {
    // What the server of an account has shown says nothing of the far side.
    let isBySecureSignalling =
      control[uuid]?.transport == .tls && calls[uuid]?.route?.account == nil
    let signalling = isBySecureSignalling ? calls[uuid]?.route?.expectation.proof : nil
    let record = PeerRecord(identity: fingerprint, signalling: signalling)
    // What a server passes on comes from the server: its source says nothing of the caller.
    if let origin = calls[uuid]?.origin, origin.account != nil, !origin.isVouchedFor { return }
    guard let origin = calls[uuid]?.origin, !origin.isVouchedFor, origin.host != origin.source
    else {
      return peers.remember(record, at: address)
    }
    let peers = peers
    Task {
      guard await HostName.addresses(of: origin.host).contains(origin.source) else { return }
      peers.remember(record, at: address)
    }
  }

  /// Returns the origin of an incoming call.
  ///
  /// An account's server vouches for callers of its own domain.
  func origin(of caller: Caller) -> CallOrigin {
    let host = SIPAddress(caller.address)?.host.lowercased() ?? ""
    let account = configuration.accounts.first { $0.address == caller.account }
    return CallOrigin(
      host: host,
      source: caller.source,
      isVouchedFor: caller.isVouchedFor && account?.domain == host,
      account: caller.account,
      uri: caller.address
    )
  }

  /// Notes that the user has compared the words of a call with the far side's, and they are the
  /// same.
  ///
  /// Throws a `PhoneError` if there are no words, or if the far side has no identity that lasts.
  public func verify(_ uuid: UUID) async throws {
    guard let call = control[uuid],
      case .encrypted(let encryption, let standing)? = call.protection,
      let fingerprint = encryption.fingerprint, encryption.words != nil, standing != .temporary
    else { throw PhoneError.noWords }
    try await peers.verify(fingerprint, at: call.rule.address)
    continuation.yield(.verified(uuid))
  }
}

/// The origin of an incoming call.
struct CallOrigin: Sendable {
  /// Host of the address that the caller claims.
  let host: String
  /// Numeric address that the caller's message came from.
  let source: String
  /// True if the server of an account vouches that the host is right.
  let isVouchedFor: Bool
  /// Address of the account whose server passed the call on; nil for a direct call.
  let account: String?
  /// The address that the caller claims.
  let uri: String

  /// The address at which the caller can be called; nil if only the call itself knows one.
  ///
  /// Callers of an account's server are called by way of it.
  var callableURI: String? {
    guard account != nil, SIPAddress(uri) != nil, !SIPAddress.isAnonymous(uri) else { return nil }
    return uri
  }
}

extension SIPAddress {
  /// Key under which the far side at this address is remembered: user, host, and the port unless it
  /// is 5060.
  ///
  /// A caller chooses the address, and a user copies the key to a command line: all characters but
  /// letters, digits and `._+-:` are percent-encoded (RFC 3986 section 2.1).
  var peerKey: String {
    let host = host.contains(":") ? "[\(Self.plain(host))]" : Self.plain(host.lowercased())
    let user = Self.plain(user)
    return (user.isEmpty ? "" : "\(user)@") + host + (port == 5_060 ? "" : ":\(port)")
  }

  private static func plain(_ text: String) -> String {
    let plain = CharacterSet(charactersIn: "a"..."z")
      .union(CharacterSet(charactersIn: "A"..."Z"))
      .union(CharacterSet(charactersIn: "0123456789._+-:"))
    return text.addingPercentEncoding(withAllowedCharacters: plain) ?? "?"
  }
}
