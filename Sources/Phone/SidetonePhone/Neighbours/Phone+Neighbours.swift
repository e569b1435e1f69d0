import CallSecurity
import DesktopServices
public import Foundation

extension ServicePublisher.Announcement {
  /// What a phone says of itself to the local network; nil if it is not to be found there.
  ///
  /// A phone that listens at one address alone is not announced: others would find all addresses of
  /// its machine.
  init?(of configuration: PhoneConfiguration, as identity: Identity?, at addresses: [String]) {
    guard configuration.isAnnounced, configuration.hosts.isEmpty,
      let port = addresses.first?.split(separator: ":").last.flatMap({ UInt16($0) })
    else { return nil }
    var texts = ["txtvers": "1", Neighbour.userKey: configuration.user]
    if configuration.security != .off, let identity {
      texts[Neighbour.fingerprintKey] = identity.fingerprint.description
    }
    self.init(
      name: configuration.displayName ?? configuration.user,
      type: Neighbour.serviceType,
      port: port,
      texts: texts
    )
  }
}

/// A phone and its neighbours.
extension Phone {
  /// Calls a phone of the local network, and returns the call's name.
  ///
  /// It has to show the identity that it announces.
  ///
  /// - Throws: a `PhoneError` if it cannot be called.
  @discardableResult
  public func call(_ neighbour: Neighbour) async throws -> UUID {
    try await call(neighbour.uri, .none, announced: neighbour.fingerprint)
  }

  /// Announces this phone on the local network, if it is to be found there.
  func announce(at addresses: [String]) {
    let announcement = ServicePublisher.Announcement(of: configuration, as: identity, at: addresses)
    publisher = announcement.flatMap { ServicePublisher($0) }
  }
}
