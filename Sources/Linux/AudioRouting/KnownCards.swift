package import ALSAAudio
package import RealTime

/// Identities of cards, and other devices that have been open.
///
/// An identity is stored under the side that the card was used on and the name that was used.
///
/// The sides are separate: a name may have meant another card when it was last used on the other
/// one.
package struct KnownCards: Equatable, Sendable {
  private var capture: [DeviceName: SoundCard.Identity] = [:]
  private var playback: [DeviceName: SoundCard.Identity] = [:]
  /// Devices on no card, as those of a sound server, that have been open.
  var withoutCard: Set<DeviceName> = []

  /// An empty collection.
  package init() {}

  /// A collection of the identities of two devices' cards, without a device whose identity is nil.
  package init(capture: KnownDevice, playback: KnownDevice) {
    self[.capture, DeviceName(capture.name)] = capture.identity
    self[.playback, DeviceName(playback.name)] = playback.identity
  }

  /// The identity of the card that the name means on that side; nil if it is not known.
  package subscript(side: StreamDirections, name: DeviceName) -> SoundCard.Identity? {
    get { side == .capture ? capture[name] : playback[name] }
    set { if side == .capture { capture[name] = newValue } else { playback[name] = newValue } }
  }

  /// Merges another collection, whose identities replace those stored under the same name.
  package mutating func merge(_ others: KnownCards) {
    capture.merge(others.capture) { $1 }
    playback.merge(others.playback) { $1 }
    withoutCard.formUnion(others.withoutCard)
  }

  /// True if a name is stored on either side, or among the devices on no card.
  func contains(_ name: String) -> Bool {
    capture.keys.contains { $0.description == name }
      || playback.keys.contains { $0.description == name }
      || withoutCard.contains { $0.description == name }
  }
}
