/// The name of a PCM that belongs to a card: `hw:1,0`, `plughw:CARD=Headset,DEV=0`.
package struct CardName: Equatable, Sendable {
  /// The part before the colon, such as `plughw`.
  package let kind: String
  /// The card, by number or id.
  package let card: String
  private let arguments: [String]
  /// Index of the argument that names the card.
  private let place: Int
  private let isKeyed: Bool

  /// Reads a name; nil if it names no card.
  ///
  /// Only the kinds that alsa-lib defines for each card count: a configured PCM with arguments of
  /// its own (`headset:1`) is no card's.
  package init?(_ name: DeviceName) {
    guard case .pcm(let text) = name, let colon = text.firstIndex(of: ":") else { return nil }
    kind = String(text[..<colon])
    guard Self.kinds.contains(kind) else { return nil }
    arguments = text[text.index(after: colon)...].split(
      separator: ",",
      omittingEmptySubsequences: false
    )
    .map(String.init)
    let keyed = arguments.firstIndex { $0.hasPrefix("CARD=") }
    isKeyed = keyed != nil
    place = keyed ?? 0
    card = isKeyed ? String(arguments[place].dropFirst(5)) : arguments[place]
    guard !card.isEmpty, !card.contains("=") else { return nil }
  }

  private static let kinds = ["hw", "plughw", "sysdefault", "front", "dmix", "dsnoop", "usbstream"]

  /// The PCM of the card by its number, `0` if the name does not say.
  package var device: String {
    let keyed = arguments.first { $0.hasPrefix("DEV=") }.map { String($0.dropFirst(4)) }
    return keyed ?? (!isKeyed && arguments.count > 1 ? arguments[1] : "0")
  }

  /// The same PCM of the card with that number.
  package func renamed(toCard number: Int) -> DeviceName {
    var renamed = arguments
    renamed[place] = isKeyed ? "CARD=\(number)" : "\(number)"
    return .pcm("\(kind):\(renamed.joined(separator: ","))")
  }

  /// The card of the name, among those that are plugged in; nil if it is missing.
  package func card(among cards: [SoundCard]) -> SoundCard? {
    cards.first { $0.id == card || String($0.number) == card }
  }
}
