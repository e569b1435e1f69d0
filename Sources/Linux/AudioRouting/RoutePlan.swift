package import ALSAAudio
package import MediaCore
package import RealTime

/// The device that each side of a call should have: the wanted one whenever it is there, and the
/// next best while it is not.
///
/// A value without I/O: the caller passes the cards present, and opens the devices.
package struct RoutePlan: Sendable {
  /// A microphone or a loudspeaker.
  struct Side: Sendable {
    /// The device that the app has named.
    fileprivate var named: DeviceName
    /// The device to use: `named`, or a better one where no device was chosen.
    fileprivate(set) var wanted: DeviceName
    /// Identity of the wanted card; nil for a device on no card, or on one not seen yet.
    var identity: SoundCard.Identity?
    /// The device in use; nil while the side has none.
    var current: DeviceName?

    /// The substitute to try before any other while the wanted card is missing.
    fileprivate var standIn: DeviceName?
    /// The device closed because the newly wanted one may share its card; nil once that is open.
    fileprivate var former: DeviceName?

    /// True if no device was chosen.
    fileprivate var isAutomatic = false

    /// True while the wanted device is in use.
    var isSettled = true

    /// Time at which the wanted device was last opened; `since` is the same for the device in use.
    fileprivate var opened: MonotonicInstant
    fileprivate var since: MonotonicInstant
    /// Substitutes that did not work, each with the time from which it may be tried again.
    fileprivate var failed: [DeviceName: MonotonicInstant] = [:]
    /// Earliest time of the next attempt on a wanted device that opens and does not work; nil for
    /// at once.
    fileprivate var notBefore: MonotonicInstant?
    fileprivate var rest: Int64 = 0

    fileprivate mutating func noteLost(at now: MonotonicInstant) {
      if isSettled {
        let isHopeless = now.nanoseconds(since: opened) < RoutePlan.probation
        rest = isHopeless ? min(RoutePlan.longestRest, max(RoutePlan.shortestRest, 2 * rest)) : 0
        // The first time may be the user's hand.
        notBefore = rest > RoutePlan.shortestRest ? now.advanced(byNanoseconds: rest) : nil
      } else if let current, now.nanoseconds(since: since) < RoutePlan.probation {
        failed[current] = now.advanced(byNanoseconds: RoutePlan.longestRest)
      }
      (current, isSettled) = (nil, false)
    }

    fileprivate mutating func welcome(_ device: DeviceName, among cards: [SoundCard]) {
      adopt(device, among: cards)
      // What is in use was good enough until now.
      standIn = current.flatMap { CardName($0) == nil ? nil : $0 } ?? standIn
      (isSettled, notBefore, rest) = (false, nil, 0)
    }

    fileprivate mutating func adopt(_ device: DeviceName, among cards: [SoundCard]) {
      wanted = device
      identity = CardName(device)?.card(among: cards)?.identity
      isSettled = true
    }

    fileprivate mutating func noteOpened(
      _ device: DeviceName,
      isWanted: Bool,
      among cards: [SoundCard],
      at now: MonotonicInstant
    ) {
      (current, isSettled, since) = (device, isWanted, now)
      guard isWanted else { return }
      opened = now
      former = nil
      identity = identity ?? CardName(device)?.card(among: cards)?.identity
    }
  }

  /// Time after its opening in which a lost device counts as not working, in nanoseconds.
  private static let probation: Int64 = 3_000_000_000
  private static let shortestRest: Int64 = 500_000_000
  private static let longestRest: Int64 = 30_000_000_000

  /// Devices on no card that have been open, in this plan or before it.
  private var withoutCard: Set<DeviceName>
  private(set) var capture: Side
  private(set) var playback: Side

  /// A plan with the wanted devices in use on both sides.
  ///
  /// `known` are cards seen before, by the names that were used, in addition to `devices.known`.
  package init(
    _ devices: DeviceSelection,
    cards: [SoundCard],
    known: KnownCards = KnownCards(),
    at now: MonotonicInstant
  ) {
    var known = known
    known.merge(devices.known)
    withoutCard = known.withoutCard
    func make(_ side: StreamDirections, _ named: DeviceName, _ standIn: DeviceName?) -> Side {
      let isAutomatic = devices.automatic.contains(side)
      let here = KnownDevice(named, identity: known[side, named]).name(among: cards)
      let own = here.flatMap(CardName.init)?.card(among: cards)
      let isOnCard = CardName(named) != nil
      let better = isAutomatic && isOnCard ? Self.best(on: side, besides: own, among: cards) : nil
      let wanted = better ?? named
      let plugged = CardName(wanted)?.card(among: cards)?.identity
      let instead = better == nil ? standIn : here ?? standIn
      return Side(
        named: named,
        wanted: wanted,
        // Another card may have had the name of what was just plugged in.
        identity: better == nil ? known[side, wanted] ?? plugged : plugged,
        current: wanted,
        standIn: CardName(wanted) == nil || instead == wanted ? nil : instead,
        isAutomatic: isAutomatic,
        opened: now,
        since: now
      )
    }
    capture = make(.capture, devices.capture, devices.captureStandIn)
    playback = make(.playback, devices.playback, devices.playbackStandIn)
  }

  /// True if a wanted card seen before is unplugged, or has another name by now.
  func isElsewhere(among cards: [SoundCard]) -> Bool {
    Self.sides.contains { side in
      self[side].identity != nil && wanted(of: side, among: cards) != self[side].wanted
    }
  }

  /// Identities of the wanted cards, and devices on no card that have been open.
  package var identities: KnownCards {
    var identities = KnownCards()
    identities.withoutCard = withoutCard
    for side in Self.sides { identities[side, self[side].wanted] = self[side].identity }
    return identities
  }

  /// Notes that the wanted devices of both sides have been opened.
  package mutating func noteOpened() {
    for side in Self.sides { noteOpened(self[side].wanted) }
  }

  private mutating func noteOpened(_ device: DeviceName) {
    if CardName(device) == nil { withoutCard.insert(device) }
  }

  /// True if a device that failed to open is worth waiting for: another program has it, or it was
  /// there once, perhaps under another name.
  package func isWorthWaiting(
    after error: AudioDeviceError,
    among cards: [SoundCard]
  ) -> Bool {
    switch error.kind {
    case .busy: true
    // A card that is just being plugged in may not be permitted to us yet, or not answer. A sound
    // server may be about to start again, or to go on.
    case .lost, .notFound, .unresponsive, .other:
      identities.contains(error.device) || isMoved(error.device, among: cards)
    default: false
    }
  }

  // True for the name that a wanted card has by now.
  private func isMoved(_ device: String, among cards: [SoundCard]) -> Bool {
    Self.sides.contains { side in
      self[side].identity != nil && wanted(of: side, among: cards)?.description == device
    }
  }

  /// True if the device is wanted because it is better than the named one, which may still work.
  package func isNewcomer(_ device: String) -> Bool {
    Self.sides.contains { side in
      self[side].wanted != self[side].named && self[side].wanted.description == device
    }
  }

  /// A device for each side; nil for a side without one.
  package struct Route: Equatable, Sendable {
    package var capture: DeviceName?
    package var playback: DeviceName?

    package init(capture: DeviceName?, playback: DeviceName?) {
      self.capture = capture
      self.playback = playback
    }
  }

  /// The devices in use.
  package var route: Route { Route(capture: capture.current, playback: playback.current) }

  /// The devices that the app expects to be in use.
  ///
  /// On a side whose wanted device is in use, that is the named device, even if a better one
  /// replaces it; its card may have another number by now. On any other side, it is the wanted
  /// device.
  var expectedRoute: Route {
    func expected(_ side: Side) -> DeviceName? {
      guard side.isSettled else { return side.wanted }
      return side.wanted == side.named ? side.current : side.named
    }
    return Route(capture: expected(capture), playback: expected(playback))
  }

  /// The wanted devices.
  package var wantedRoute: Route { Route(capture: capture.wanted, playback: playback.wanted) }

  /// The devices in use, and the wanted devices under their present names.
  package func devices(among cards: [SoundCard]) -> [DeviceName] {
    Self.sides.flatMap { [self[$0].current, wanted(of: $0, among: cards)] }.compactMap { $0 }
  }

  /// Sides on which the wanted device is not in use.
  var unsettled: [StreamDirections] { Self.sides.filter { !self[$0].isSettled } }

  private static let sides: [StreamDirections] = [.capture, .playback]

  /// One side.
  private(set) subscript(side: StreamDirections) -> Side {
    get { side == .capture ? capture : playback }
    set { if side == .capture { capture = newValue } else { playback = newValue } }
  }

  /// Notes that the device of these sides is gone.
  package mutating func noteLost(_ sides: StreamDirections, at now: MonotonicInstant) {
    for side in Self.sides where sides.contains(side) { self[side].noteLost(at: now) }
  }

  /// Changes the wanted devices; those in use stay until the new ones are open.
  ///
  /// Returns the sides whose device has to be closed first, since the same card may be wanted by
  /// another name, or through a server or plugin. A device closed for that is the first substitute.
  mutating func wish(
    for devices: DeviceSelection,
    among cards: [SoundCard],
    known: KnownCards,
    at now: MonotonicInstant
  ) -> StreamDirections {
    let fresh = RoutePlan(devices, cards: cards, known: known, at: now)
    var blocked: StreamDirections = []
    for side in Self.sides where isNew(fresh[side], on: side) {
      let current = self[side].current
      self[side] = fresh[side]
      // A card may have another number by now than when it was named.
      let named = wanted(of: side, among: cards)
      self[side].isSettled = current == named ?? fresh[side].wanted
      self[side].current = current
      // What is not there shares nothing.
      guard !self[side].isSettled, let current, let named, mayShare(current, named, among: cards)
      else { continue }
      (self[side].current, self[side].former) = (nil, current)
      blocked.formUnion(side)
    }
    return blocked
  }

  // A device that was not chosen does not change because the other side does.
  private func isNew(_ fresh: Side, on side: StreamDirections) -> Bool {
    fresh.named != self[side].named || fresh.isAutomatic != self[side].isAutomatic
  }

  /// Notes the cards that are plugged in; true if there is a better one on a side without a chosen
  /// device.
  ///
  /// The better device is wanted from now on; the one in use stays until that is open, and becomes
  /// its substitute. If the wanted card is gone, the device in use in its place becomes the
  /// wanted one.
  mutating func welcome(_ cards: [SoundCard]) -> Bool {
    var isNews = false
    for side in Self.sides where self[side].isAutomatic && CardName(self[side].wanted) != nil {
      func card(_ name: DeviceName?) -> SoundCard? {
        name.flatMap(CardName.init)?.card(among: cards)
      }
      let wanted = card(wanted(of: side, among: cards))
      guard let used = card(self[side].current) else { continue }
      if wanted == nil, let current = self[side].current {
        self[side].adopt(current, among: cards)
      }
      // What does not open or does not work is no news.
      let others = cards.filter { $0 == used || $0 != wanted }
      guard let better = Self.best(on: side, besides: used, among: others) else { continue }
      self[side].welcome(better, among: cards)
      isNews = true
    }
    return isNews
  }

  // The best device on a side, if it is better than those of `own`.
  private static func best(
    on side: StreamDirections,
    besides own: SoundCard?,
    among cards: [SoundCard]
  ) -> DeviceName? {
    // Of those that are as good the first one stays.
    let devices = (own.map { [$0] } ?? []) + cards.filter { $0 != own }
    let ranked = DeviceRanking.ranked(devices.flatMap(\.devices), capture: side == .capture)
    guard let best = ranked.first, !(own?.devices.contains(best) ?? false) else { return nil }
    return .pcm(best.name)
  }

  private func mayShare(_ one: DeviceName, _ other: DeviceName, among cards: [SoundCard]) -> Bool {
    guard case .pcm = one, case .pcm = other else { return false }
    guard let one = CardName(one), let other = CardName(other) else { return true }
    return one.card(among: cards) == other.card(among: cards)
  }

  /// Opens the best device on each side that lacks its wanted one: the first for which `open` does
  /// not throw.
  mutating func settle(
    among cards: [SoundCard],
    at now: MonotonicInstant,
    by open: (_ name: DeviceName, _ side: StreamDirections) throws -> Void
  ) {
    for side in unsettled {
      for (name, isWanted) in attempts(on: side, among: cards, at: now) {
        // What cannot be opened now is tried again at the next look.
        guard (try? open(name, side)) != nil else { continue }
        self[side].noteOpened(name, isWanted: isWanted, among: cards, at: now)
        noteOpened(name)
        break
      }
    }
  }

  /// Devices to try on a side that lacks its wanted one, best first; true marks the wanted one.
  func attempts(
    on side: StreamDirections,
    among cards: [SoundCard],
    at now: MonotonicInstant
  ) -> [(name: DeviceName, isWanted: Bool)] {
    let isResting = self[side].notBefore.map { now < $0 } ?? false
    let wanted = isResting ? nil : wanted(of: side, among: cards)
    let chosen =
      self[side].current == nil
      ? [self[side].former, self[side].standIn].compactMap { $0 } : []
    let others = (chosen + substitutes(of: side, among: cards)).filter { name in
      self[side].failed[name].map { now >= $0 } ?? true
    }
    return (wanted.map { [($0, true)] } ?? []) + others.map { ($0, false) }
  }

  /// The wanted device of a side under the name that it has now; nil if its card is not there.
  func wanted(of side: StreamDirections, among cards: [SoundCard]) -> DeviceName? {
    KnownDevice(self[side].wanted, identity: self[side].identity).name(among: cards)
  }

  /// Substitutes for a side without a device, best first.
  ///
  /// For a card, other cards. Nothing replaces a sound server or a plugin: taking its card would
  /// keep it from coming back.
  private func substitutes(of side: StreamDirections, among cards: [SoundCard]) -> [DeviceName] {
    guard self[side].current == nil, CardName(self[side].wanted) != nil else { return [] }
    let own = wanted(of: side, among: cards).flatMap(CardName.init)?.card(among: cards)
    let others = cards.filter { $0 != own }.flatMap(\.devices)
    return DeviceRanking.ranked(others, capture: side == .capture).map { .pcm($0.name) }
  }
}
