import CallSecurity
import Glibc
import SIPSignalling
import UDPTransport

/// Where the far side of an outgoing call is, and how it may be signalled to.
struct CallRoute: Sendable {
  let address: SIPAddress
  /// Its numeric address.
  let host: String
  let rule: SecurityRule
  /// What the far side has to show by TLS.
  let expectation: TLSExpectation

  /// How long a host may take to say that it takes connections.
  private static let patienceMilliseconds = 500

  init(address: SIPAddress, host: String, rule: SecurityRule) {
    self.address = address
    self.host = host
    self.rule = rule
    expectation = TLSExpectation(rule.rememberedSignalling)
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
  /// Blocks for half a second at most. Throws a `PhoneError` if there is no encrypted connection
  /// and there has to be one.
  func chooseTransport() throws -> SIPTransport {
    // What is asked for is not tried first: its error says more.
    if let asked = address.transport { return asked }
    guard rule.wantsSecureSignalling,
      let secure = SocketAddress(host: host, port: address.securePort)
    else { return .udp }
    if ReachabilityProbe.isConnectable(secure, milliseconds: Self.patienceMilliseconds) {
      return .tls
    }
    if rule.mayNotSignalOpenly { throw PhoneError(rule.missingConnection) }
    return .udp
  }
}
