package import ALSAAudio
package import RealTime

/// What cards are known by, and other devices that have been open.
///
/// Cards are known by the side that they were used on and the name that was used.
///
/// Sides are apart: a name may have meant another card when it was last used on the other one.
package struct KnownCards: Equatable, Sendable {
  private var capture: [DeviceName: SoundCard.Identity] = [:]
  private var playback: [DeviceName: SoundCard.Identity] = [:]
  /// Devices on no card, as those of a sound server, that have been open.
  var withoutCard: Set<DeviceName> = []

  /// Nothing is known.
  package init() {}

  /// What the cards of two devices are known by; nil for a device on no known card.
  package init(capture: KnownDevice, playback: KnownDevice) {
    self[.capture, DeviceName(capture.name)] = capture.identity
    self[.playback, DeviceName(playback.name)] = playback.identity
  }

  /// The identity of the card that the name means on that side; nil if it is not known.
  package subscript(side: StreamDirections, name: DeviceName) -> SoundCard.Identity? {
    get { side == .capture ? capture[name] : playback[name] }
    set { if side == .capture { capture[name] = newValue } else { playback[name] = newValue } }
  }

  /// Takes in what others know; theirs counts.
  package mutating func merge(_ others: KnownCards) {
    capture.merge(others.capture) { $1 }
    playback.merge(others.playback) { $1 }
    withoutCard.formUnion(others.withoutCard)
  }

  /// Whether a name is known on a side.
  func contains(_ name: String) -> Bool {
    capture.keys.contains { $0.description == name }
      || playback.keys.contains { $0.description == name }
      || withoutCard.contains { $0.description == name }
  }
}
