/// The name of a PCM that belongs to a card: `hw:1,0`, `plughw:CARD=Headset,DEV=0`.
public struct CardName: Equatable, Sendable {
  /// What comes before the colon, such as `plughw`.
  public let kind: String
  /// The card, by number or id.
  public let card: String
  private let isKeyed: Bool
  private let rest: String

  /// Reads a name; nil if it names no card.
  ///
  /// A configured PCM with arguments of its own (`headset:1`) is none: only the kinds that alsa-lib defines for
  /// each card are.
  public init?(_ name: DeviceName) {
    guard case .pcm(let text) = name, let colon = text.firstIndex(of: ":") else { return nil }
    kind = String(text[..<colon])
    guard Self.kinds.contains(kind) else { return nil }
    let arguments = text[text.index(after: colon)...]
    let first = arguments.prefix { $0 != "," }
    isKeyed = first.hasPrefix("CARD=")
    card = String(isKeyed ? first.dropFirst(5) : first)
    rest = String(arguments.dropFirst(first.count))
    guard !card.isEmpty else { return nil }
  }

  private static let kinds = ["hw", "plughw", "sysdefault", "front", "dmix", "dsnoop", "usbstream"]

  /// The same PCM of the card with that number.
  public func renamed(toCard number: Int) -> DeviceName {
    .pcm("\(kind):\(isKeyed ? "CARD=" : "")\(number)\(rest)")
  }

  /// The card that is meant, among those that are plugged in.
  public func card(among cards: [SoundCard]) -> SoundCard? {
    cards.first { $0.id == card || String($0.number) == card }
  }
}
