import ALSAIO
import RealTime

/// Which device each side of a call should have: the one that was wished for whenever it is there, and the next
/// best as long as it is not.
///
/// A value without I/O: what is plugged in is told.
struct RoutePlan: Sendable {
  /// A microphone or a loudspeaker.
  struct Side: Sendable {
    /// What the user wished for.
    let wanted: DeviceName
    /// What the wanted card is known by, once it was there; nil for what is no card.
    var identity: SoundCard.Identity?
    /// What is in use; nil while nothing is.
    var current: DeviceName?

    /// True while what was wished for is in use.
    var isSettled = true
  }

  private(set) var capture: Side
  private(set) var playback: Side

  /// Both sides have what was wished for.
  init(_ devices: AVAudioSession.Devices, cards: [SoundCard]) {
    capture = Self.side(devices.capture, cards)
    playback = Self.side(devices.playback, cards)
  }

  private static func side(_ wanted: DeviceName, _ cards: [SoundCard]) -> Side {
    let identity = CardName(wanted)?.card(among: cards)?.identity
    return Side(wanted: wanted, identity: identity, current: wanted)
  }

  /// The devices of both sides; nil where nothing is.
  struct Route: Equatable, Sendable {
    var capture: DeviceName?
    var playback: DeviceName?
  }

  /// What is in use.
  var route: Route { Route(capture: capture.current, playback: playback.current) }

  /// What was wished for.
  var wantedRoute: Route { Route(capture: capture.wanted, playback: playback.wanted) }

  /// The sides that do not have what was wished for.
  var unsettled: DeviceSides {
    var sides: DeviceSides = []
    if !capture.isSettled { sides.insert(.capture) }
    if !playback.isSettled { sides.insert(.playback) }
    return sides
  }

  /// What is in use on one side.
  subscript(side: DeviceSides) -> Side {
    side == .capture ? capture : playback
  }

  /// Notes that a side's device is gone.
  mutating func noteLost(_ sides: DeviceSides) {
    if sides.contains(.capture) { (capture.current, capture.isSettled) = (nil, false) }
    if sides.contains(.playback) { (playback.current, playback.isSettled) = (nil, false) }
  }

  /// Notes that `device` is in use; `isWanted` if it is what was wished for.
  mutating func noteOpened(_ device: DeviceName, on side: DeviceSides, isWanted: Bool) {
    if side == .capture {
      (capture.current, capture.isSettled) = (device, isWanted)
    } else {
      (playback.current, playback.isSettled) = (device, isWanted)
    }
  }

  /// What to try on a side that does not have what was wished for, best first; true beside what was wished for.
  func attempts(
    on side: DeviceSides,
    among cards: [SoundCard]
  ) -> [(name: DeviceName, isWanted: Bool)] {
    let wanted = wanted(of: side, among: cards).map { [($0, true)] } ?? []
    return wanted + substitutes(of: side, among: cards).map { ($0, false) }
  }

  /// The wanted device of a side under the name that it has now; nil if its card is not there.
  private func wanted(of side: DeviceSides, among cards: [SoundCard]) -> DeviceName? {
    let wanted = self[side].wanted
    guard let name = CardName(wanted) else { return wanted }
    guard let identity = self[side].identity else {
      return name.card(among: cards) == nil ? nil : wanted
    }
    guard let card = SoundCard.card(with: identity, among: cards) else { return nil }
    // Named as the user named it as long as that is the same card.
    return name.card(among: cards) == card ? wanted : name.renamed(toCard: card.number)
  }

  /// What could stand in on a side that has nothing, best first.
  ///
  /// For a card, other cards. Nothing stands in for a sound server or a plugin: taking its card would keep it from
  /// coming back.
  private func substitutes(of side: DeviceSides, among cards: [SoundCard]) -> [DeviceName] {
    guard self[side].current == nil, CardName(self[side].wanted) != nil else { return [] }
    let own = wanted(of: side, among: cards).flatMap(CardName.init)?.card(among: cards)
    let others = cards.filter { $0 != own }.flatMap(\.devices)
    return DeviceList.ranked(others, capture: side == .capture).map { .pcm($0.name) }
  }
}
