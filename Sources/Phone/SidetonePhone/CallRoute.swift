import CallSecurity
import Glibc
import SIPSignalling
import UDPTransport

/// The address of an outgoing call's far side, and the signalling that is allowed.
struct CallRoute: Sendable {
  let address: SIPAddress
  /// Numeric address of the far side; its domain for a call through a server.
  let host: String
  /// Numeric address of this machine that leads to the far side.
  let localHost: String
  let rule: SecurityRule
  /// The account to call with, nil for a call without a server.
  let account: String?
  /// Transfer target that the far side of another call asked for; nil for a call of the user's own.
  var target: TransferTarget?
  /// The certificate that the far side must present by TLS.
  let expectation: TLSExpectation

  /// Time for a host to accept a TLS connection before it is signalled to without encryption.
  private static let patienceMilliseconds = 500
  /// The same where unencrypted signalling is not allowed: enough for four transmissions of each
  /// SYN (RFC 6298).
  private static let longPatienceMilliseconds = 8_000

  init(
    address: SIPAddress,
    host: String,
    localHost: String,
    rule: SecurityRule,
    account: String? = nil
  ) {
    self.address = address
    self.host = host
    self.localHost = localHost
    self.account = account
    self.rule = rule
    expectation = TLSExpectation(rule.rememberedSignalling)
  }

  /// Returns the URI to invite.
  func uri(by transport: SIPTransport) -> String {
    account == nil
      ? address.uri(atNumericHost: host, by: transport)
      : address.wholeURI
  }

  /// The far side that TLS connections must lead to.
  var securePeer: SecurePeer {
    SecurePeer(
      expectation,
      host: address.host == host ? nil : address.host,
      destination: "\(host) \(address.securePort)"
    )
  }

  /// The far side's address for unencrypted signalling; nil if `host` is not numeric.
  var openAddress: SocketAddress? { SocketAddress(host: host, port: address.port) }

  /// Returns the transport that the address names, or else TLS if the far side accepts it, or else
  /// UDP.
  ///
  /// Blocks for half a second at most, or for 8 s where unencrypted signalling is not allowed.
  /// Throws a `CallEnd` if an encrypted connection is required but cannot be made.
  func chooseTransport() throws -> SIPTransport {
    // What is asked for is not tried first: its error says more. A link may ask for it as well, and
    // does not open what was encrypted before.
    if let asked = address.transport, asked == .tls || !rule.mayNotSignalOpenly { return asked }
    guard rule.wantsSecureSignalling,
      let secure = SocketAddress(host: host, port: address.securePort)
    else { return .udp }
    let patience =
      rule.mayNotSignalOpenly ? Self.longPatienceMilliseconds : Self.patienceMilliseconds
    if ReachabilityProbe.isConnectable(secure, milliseconds: patience) { return .tls }
    if rule.mayNotSignalOpenly { throw CallEnd.securityRefused(rule.missingConnection) }
    return .udp
  }
}
