import CallSecurity
import Foundation
package import SIPSignalling
import UDPTransport

/// Routes of outgoing calls.
extension Phone {
  /// Returns the numeric address of this machine from which a call to `text` would leave.
  ///
  /// On a machine with several networks it belongs in `PhoneConfiguration.hosts`, so that SIP gives
  /// the far side an address that it can reach. Throws a `PhoneError` if `text` is no SIP address,
  /// or a `CallEnd` if its host is unknown or there is no route to it.
  public static func localHost(towards text: String) async throws -> String {
    let address = try address(text)
    return try await way(to: address).localHost
  }

  func route(
    to text: String,
    _ use: AccountUse,
    announced: Fingerprint?,
    isRequested: Bool = false
  ) async throws -> CallRoute {
    let choice =
      switch use {
      case .any: try AccountChoice(text, nil, among: configuration.accounts)
      case .named(let account): try AccountChoice(text, account, among: configuration.accounts)
      case .none: try AccountChoice(text, nil, among: [])
      }
    let rule = try await rule(
      for: choice.address,
      announced: announced,
      // What a far side asks for through a server names the way from there.
      isSecureSignallingForced: choice.account?.connection == .tls || choice.address.isSecureScheme
        || choice.address.transport == .tls && !(isRequested && choice.account != nil)
    )
    guard let account = choice.account else {
      guard choice.address.foreignTransport == nil else { throw PhoneError.noAddress(text) }
      let (host, localHost) = try await Self.way(to: choice.address)
      return CallRoute(address: choice.address, host: host, localHost: localHost, rule: rule)
    }
    let (localHost, transport) = try await connection(of: account)
    guard transport == .tls || !rule.mayNotSignalOpenly else {
      throw CallEnd.securityRefused(rule.missingConnection)
    }
    return CallRoute(
      address: choice.address,
      host: choice.address.host,
      localHost: localHost,
      rule: rule,
      account: account.address
    )
  }

  /// Time for which a call waits for the registration of its account.
  private static let connectionPatience = Duration.seconds(10)
  /// Interval at which the registration is checked.
  private static let connectionPause = Duration.milliseconds(20)

  // A call that is placed as soon as the program starts comes before the registration.
  private func connection(
    of account: SIPAccount
  ) async throws -> (localHost: String, transport: SIPTransport) {
    let deadline = ContinuousClock.now + Self.connectionPatience
    while ContinuousClock.now < deadline {
      switch registrations[account.address] {
      case .registered:
        if let found = await agent.connection(of: account.address) { return found }
      case .failed(let reason, _):
        throw CallEnd.unreachable("\(account.address) is not registered: \(reason)")
      case .ended, nil:
        break
      }
      try await Task.sleep(for: Self.connectionPause)
    }
    throw CallEnd.unreachable("\(account.address) is not registered: its server does not answer")
  }

  private static func way(
    to address: SIPAddress
  ) async throws -> (host: String, localHost: String) {
    guard let host = await HostName.addresses(of: address.host).first else {
      throw CallEnd.unreachable("unknown host \"\(address.host.prefix(255))\"")
    }
    guard let remote = SocketAddress(host: host, port: address.port),
      let localHost = MediaSocket.localAddress(towards: remote)
    else {
      throw CallEnd.unreachable("no route to \(host)")
    }
    return (remote.host, localHost)
  }

  static func address(_ text: String) throws -> SIPAddress {
    guard let address = SIPAddress(text) else {
      throw PhoneError.noAddress(text)
    }
    return address
  }

  /// Notes the state of an account's registration and reports it to the user.
  func note(_ state: RegistrationState, of account: String) {
    registrations[account] = state
    continuation.yield(state.event(of: account))
  }

  /// Reports the call as unreachable if its address refuses packets, which shows that no phone
  /// listens there.
  nonisolated func probe(_ address: SocketAddress, for uuid: UUID) {
    Self.waitingRoom.async { [weak self] in
      guard ReachabilityProbe.isRefused(address, milliseconds: 1_000) else { return }
      let reason = "connection refused: no SIP phone listens at \(address)"
      self?.noteUnreachable(reason, of: uuid)
    }
  }
}

extension RegistrationState {
  /// Returns the event that reports the state to the user.
  package func event(of account: String) -> PhoneEvent {
    switch self {
    case .registered(let server, let seconds):
      .accountRegistered(account, server: server, seconds: seconds)
    case .failed(let reason, let pause):
      .accountUnregistered(account, reason: reason, retryingAfter: pause)
    case .ended:
      .accountUnregistered(account, reason: "this side has stopped", retryingAfter: nil)
    }
  }
}

extension [SIPAccount] {
  /// Returns the account of an address, which may be without its scheme.
  ///
  /// Throws a `PhoneError` if there is none, or a `SIPError` if the address is malformed.
  package func named(_ address: String) throws -> SIPAccount {
    let wanted = try SIPAccount(address, password: "").address
    guard let found = first(where: { $0.address == wanted }) else {
      throw PhoneError.unknownAccount(wanted)
    }
    return found
  }
}

/// The accounts that a call may go through.
enum AccountUse: Equatable {
  /// The account whose domain is the address's, the first account for a text that is no address, or
  /// else none.
  case any
  /// The account of this address.
  case named(String)
  /// No account: the call is direct.
  case none
}

/// The address that a text stands for, and the account to call it with: a decision without I/O.
struct AccountChoice {
  let address: SIPAddress
  /// The account to call with; nil for a call without a server.
  let account: SIPAccount?

  /// Resolves a text with the account of the given address, or, if that is nil, with the account
  /// that the text implies.
  ///
  /// Throws a `PhoneError` if the text is no address, or there is no such account.
  init(_ text: String, _ account: String?, among accounts: [SIPAccount]) throws {
    if let account {
      let found = try accounts.named(account)
      self.account = found
      address = try Phone.address(Self.completed(text, with: found))
      return
    }
    if let address = SIPAddress(text) {
      self.address = address
      self.account = address.transport == nil ? Self.account(of: address, among: accounts) : nil
      return
    }
    guard let first = accounts.first else { throw PhoneError.noAddress(text) }
    let whole = Self.completed(text, with: first)
    guard let address = SIPAddress(whole) else { throw PhoneError.noAddress(text) }
    self.address = address
    self.account = Self.account(of: address, among: accounts)
  }

  // An address of another domain is called directly.
  private static func account(
    of address: SIPAddress,
    among accounts: [SIPAccount]
  ) -> SIPAccount? {
    accounts.first { $0.domain == address.host.lowercased() && $0.port == address.givenPort }
  }

  // A number as people write it, or a name, belongs to the account's domain.
  private static func completed(_ text: String, with account: SIPAccount) -> String {
    if text.contains("@") || SIPAccount.uri(of: text) == text { return SIPAccount.uri(of: text) }
    let bare = text.lowercased().hasPrefix("tel:") ? String(text.dropFirst(4)) : text
    let decoded = bare.removingPercentEncoding ?? bare
    let isNumber = decoded.allSatisfy { $0.isASCII && ($0.isNumber || "+-. ()*#".contains($0)) }
    let user = isNumber ? decoded.filter { !"-. ()".contains($0) } : bare
    return "sip:\(user)@\(account.address.split(separator: "@").last ?? "")"
  }
}

extension Phone {
  /// True if a call to a text goes through one of the accounts, which may be charged for it.
  package static func usesAccount(for text: String, among accounts: [SIPAccount]) -> Bool {
    // What is no address is not called.
    (try? AccountChoice(text, nil, among: accounts))?.account != nil
  }
}
