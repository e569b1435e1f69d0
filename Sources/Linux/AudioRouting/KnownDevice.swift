package import ALSAAudio

/// A device's name as a user wrote it, with the identity of its card, by which the card is
/// found at any port.
package struct KnownDevice: Codable, Equatable, Sendable {
  /// The name, such as `hw:1,0`.
  package let name: String
  /// Identity of its card; nil if it is on no card, or on one that was never there.
  package let identity: SoundCard.Identity?

  /// A device of that name, on the card with that identity.
  package init(_ name: DeviceName, identity: SoundCard.Identity?) {
    self.name = name.description
    self.identity = identity
  }

  /// A device of that name, on the card among `cards` that the name means now.
  package init(_ name: DeviceName, among cards: [SoundCard]) {
    self.init(name, identity: CardName(name)?.card(among: cards)?.identity)
  }

  /// The device's present name; nil if its card is not among `cards`.
  package func name(among cards: [SoundCard]) -> DeviceName? {
    let given = DeviceName(name)
    guard let named = CardName(given) else { return given }
    guard let identity else { return named.card(among: cards) == nil ? nil : given }
    guard let card = SoundCard.card(with: identity, among: cards) else { return nil }
    // Named as the user named it as long as that is the same card.
    return named.card(among: cards) == card ? given : named.renamed(toCard: card.number)
  }
}
