import CallSecurity
import Glibc
import SIPSignalling
import UDPTransport

/// Where the far side of an outgoing call is, and how it may be signalled to.
struct CallRoute: Sendable {
  let address: SIPAddress
  /// Its numeric address; its domain for a call by way of a server.
  let host: String
  /// The numeric address of this machine that leads there.
  let localHost: String
  let rule: SecurityRule
  /// The account to call with, nil for a call without a server.
  let account: String?
  /// What the far side of another call has asked for; nil for a call of the user's own.
  var target: TransferTarget?
  /// What the far side has to show by TLS.
  let expectation: TLSExpectation

  /// The time for a host to take a connection, before it is called in the open.
  private static let patienceMilliseconds = 500
  /// The same where an open call is not allowed: four losses in a row of each attempt (RFC 6298).
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

  /// The URI to invite.
  func uri(by transport: SIPTransport) -> String {
    account == nil ? address.uri(atNumericHost: host, by: transport) : address.uri
  }

  /// The far side, as it has to be by TLS.
  var securePeer: SecurePeer {
    SecurePeer(
      expectation,
      host: address.host == host ? nil : address.host,
      destination: "\(host) \(address.securePort)"
    )
  }

  /// Where to look for the far side in the open.
  var openAddress: SocketAddress? { SocketAddress(host: host, port: address.port) }

  /// How to signal, with TLS first.
  ///
  /// Blocks for half a second at most, or for 8 s where no open call is allowed. Throws a
  /// `PhoneError` if there is no encrypted connection and there has to be one.
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
