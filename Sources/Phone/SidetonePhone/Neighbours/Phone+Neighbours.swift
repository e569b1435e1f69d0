import CallSecurity
import DesktopServices
public import Foundation

extension ServicePublisher.Announcement {
  /// The announcement of a phone on the local network; nil if it is not to be announced.
  ///
  /// A phone that listens at given addresses alone is not announced: others would find all
  /// addresses of its machine. If its user has chosen no name, `name` is announced.
  init?(
    of configuration: PhoneConfiguration,
    as identity: Identity?,
    at addresses: [String],
    usually name: String
  ) {
    guard configuration.isAnnounced, configuration.hosts.isEmpty,
      let port = addresses.first?.split(separator: ":").last.flatMap({ UInt16($0) })
    else { return nil }
    var texts = ["txtvers": "1", Neighbour.userKey: configuration.user]
    if configuration.security != .off, let identity {
      texts[Neighbour.fingerprintKey] = identity.fingerprint.description
    }
    let chosen = configuration.user == PhoneConfiguration().user ? nil : configuration.user
    self.init(
      name: configuration.displayName ?? chosen ?? name,
      type: Neighbour.serviceType,
      port: port,
      texts: texts
    )
  }
}

/// A phone and its neighbours.
extension Phone {
  /// Calls a phone on the local network, and returns the call's identifier.
  ///
  /// The phone must present the identity that it announces.
  ///
  /// - Throws: a `PhoneError` or a `CallEnd` if it cannot be called.
  @discardableResult
  public func call(_ neighbour: Neighbour) async throws -> UUID {
    try await call(neighbour.uri, .none, announced: neighbour.fingerprint)
  }

  // Foundation would ask a name server, which may hang.
  private static var machine: String {
    var name = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&name, name.count - 1) == 0 else { return "this machine" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Announces this phone on the local network, if the configuration asks for that.
  func announce(at addresses: [String]) {
    let announcement = ServicePublisher.Announcement(
      of: configuration,
      as: identity,
      at: addresses,
      usually: "\(NSUserName()) on \(Self.machine)"
    )
    publisher = announcement.flatMap { ServicePublisher($0) }
  }
}
