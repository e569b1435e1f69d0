import CallSecurity
import CallStore
import Foundation
import Localization
import SidetonePhone

/// People that a name may mean: those whom a user knows, and those on the local network.
///
/// A value without I/O.
struct Acquaintances {
  /// A person whom a name may mean.
  struct Person: Equatable {
    let name: String
    let callee: Callee
    /// Reason why this person may be meant, for a user who has to choose.
    let remark: LocalizationValue
    /// True if the user has given the person this name; false if only the far side announces it.
    let isCertain: Bool
  }

  /// Favourites of the user.
  var favourites: [Favourite] = []
  /// Identities that are remembered.
  var identities: [KnownIdentity] = []
  /// Phones on the local network.
  var neighbours: [Neighbour] = []
  /// Identity of the user, who is never meant.
  var own: Fingerprint?
  /// False if calls are not encrypted, so that no neighbour proves the identity that it announces.
  var isEncrypting = true

  /// Returns all people whom `name` may mean, ignoring case and accents: by the whole name, one
  /// word of it, or the user part of the address.
  ///
  /// A known identity that is on the local network is listed once, by its present address.
  func people(called name: String) -> [Person] {
    var people = neighbours.filter { isMeant(by: name, $0) }.map { neighbour in
      Person(
        name: neighbour.name,
        callee: .neighbour(neighbour),
        remark: .init(localized: "on the local network, \(remark(on: neighbour))"),
        isCertain: identity(of: neighbour).map { Self.means(name, $0.name) } ?? false
      )
    }
    func add(_ title: String, _ address: String, _ remark: LocalizationValue) {
      let uri = address.contains(":") && address.hasPrefix("sip") ? address : "sip:\(address)"
      guard !people.contains(where: { $0.callee.address == uri }) else { return }
      people.append(
        Person(name: title, callee: .address(uri), remark: remark, isCertain: true)
      )
    }
    for favourite in favourites
    where Self.means(name, favourite.name) || Self.means(name, Self.user(of: favourite.handle)) {
      add(favourite.name, favourite.handle, .init(localized: "a favourite"))
    }
    for identity in identities where Self.means(name, identity.name) {
      guard !neighbours.contains(where: { self.identity(of: $0) == identity }) else { continue }
      for address in identity.addresses {
        let isVerified = address.verified != nil
        add(identity.name, address.text, Self.standing(isVerified: isVerified))
      }
    }
    return people
  }

  private func isMeant(by name: String, _ neighbour: Neighbour) -> Bool {
    guard neighbour.fingerprint == nil || neighbour.fingerprint != own else { return false }
    return Self.means(name, neighbour.name) || Self.means(name, Self.user(of: neighbour.uri))
      || identity(of: neighbour).map { Self.means(name, $0.name) } ?? false
  }

  private func identity(of neighbour: Neighbour) -> KnownIdentity? {
    guard isEncrypting else { return nil }
    return identities.first { $0.fingerprint == neighbour.fingerprint?.description }
  }

  /// Returns a remark on how well a neighbour is known, by the identity that it announces.
  ///
  /// A name can lie, so unknown neighbours are shown with their fingerprints.
  func remark(on neighbour: Neighbour) -> LocalizationValue {
    guard let fingerprint = neighbour.fingerprint else {
      return .init(localized: "announces no identity")
    }
    if fingerprint == own { return .init(localized: "you") }
    guard isEncrypting else { return .init(localized: "proves no identity without encryption") }
    guard let identity = identity(of: neighbour) else {
      return .init(localized: "new to you: SHA-256 \(fingerprint)")
    }
    let isVerified = identity.addresses.contains { $0.verified != nil }
    guard !identity.name.isEmpty, !Self.means(identity.name, neighbour.name) else {
      return Self.standing(isVerified: isVerified)
    }
    return isVerified
      ? .init(localized: "known and verified as \(identity.name)")
      : .init(localized: "known as \(identity.name)")
  }

  private static func standing(isVerified: Bool) -> LocalizationValue {
    isVerified ? .init(localized: "known and verified") : .init(localized: "known")
  }

  private static func user(of address: String) -> String {
    let bare = address.split(separator: ":", maxSplits: 1).last.map(String.init) ?? address
    return bare.contains("@") ? String(bare.prefix { $0 != "@" }) : ""
  }

  private static func means(_ typed: String, _ name: String) -> Bool {
    let typed = folded(typed)
    let name = folded(name)
    return !typed.isEmpty && (typed == name || name.split(separator: " ").contains { $0 == typed })
  }

  private static func folded(_ text: String) -> String {
    text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
      .trimmingCharacters(in: .whitespaces)
  }

  /// True if a text may be the name of a person: it is no address, no link and no number.
  static func isName(_ text: String) -> Bool {
    !text.contains("@") && !text.contains(":") && text.contains(where: \.isLetter)
  }
}
