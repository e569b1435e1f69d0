import ALSAAudio
import MediaCore
import RealTime
import Testing

@testable import AudioRouting

/// Choice of the device for each side of a call, with made-up cards.
struct RoutePlanTests {
  private static func card(_ number: Int, _ id: String, port: Int) -> SoundCard {
    SoundCard(
      number: number,
      id: id,
      name: id,
      identity: .init(product: "046d:0a44", serial: "S-\(id)", path: "/devices/usb1/1-\(port)")
    )
  }

  private static let start = MonotonicInstant(nanoseconds: 0)

  private static func later(_ seconds: Int64) -> MonotonicInstant {
    start.advanced(byNanoseconds: seconds * 1_000_000_000)
  }

  private static let headset = card(1, "Headset", port: 2)
  private static let wish = DeviceSelection(
    capture: .pcm("hw:1,0"),
    playback: .pcm("plughw:CARD=Headset,DEV=0")
  )

  private static func names(
    _ plan: RoutePlan,
    _ side: StreamDirections,
    _ cards: [SoundCard]
  ) -> [DeviceName] {
    plan.attempts(on: side, among: cards, at: later(10)).map(\.name)
  }

  @Test func newPlanHasWhatWasWishedFor() {
    let plan = RoutePlan(Self.wish, cards: [Self.headset], at: Self.start)
    #expect(plan.route == plan.wantedRoute && plan.unsettled.isEmpty)
  }

  @Test func cardIsFoundUnderAnotherNumberAtAnotherPort() {
    var plan = RoutePlan(Self.wish, cards: [Self.headset], at: Self.start)
    plan.noteLost(.both, at: Self.later(10))
    #expect(plan.route == .init(capture: nil, playback: nil))
    #expect(Self.names(plan, .capture, []).isEmpty)
    let returned = SoundCard(
      number: 3,
      id: "Headset_1",
      name: "Headset",
      identity: .init(product: "046d:0a44", serial: "S-Headset", path: "/devices/usb2/2-7")
    )
    #expect(Self.names(plan, .capture, [returned]).first == .pcm("hw:3,0"))
    #expect(Self.names(plan, .playback, [returned]).first == .pcm("plughw:CARD=3,DEV=0"))
    let attempt = plan.attempts(on: .capture, among: [returned], at: Self.later(10)).first
    #expect(attempt?.isWanted == true)
  }

  @Test func anotherCardUnderTheSameNumberIsNotTakenForIt() {
    var plan = RoutePlan(Self.wish, cards: [Self.headset], at: Self.start)
    plan.noteLost(.capture, at: Self.later(10))
    #expect(plan.unsettled == [.capture])
    let stranger = SoundCard(
      number: 1,
      id: "Other",
      name: "Other",
      identity: .init(product: "1234:5678", serial: "", path: "/devices/usb1/1-9")
    )
    #expect(
      !plan.attempts(on: .capture, among: [stranger], at: Self.later(10)).contains { $0.isWanted }
    )
  }

  @Test func substituteIsKeptUntilTheWantedOneIsBack() {
    var plan = RoutePlan(Self.wish, cards: [Self.headset], at: Self.start)
    plan.noteLost(.capture, at: Self.later(10))
    let other = SoundCard(
      number: 0,
      id: "Other",
      name: "Other",
      identity: .init(path: "/devices/pci"),
      devices: [
        .init(name: "hw:CARD=Other,DEV=3", label: "HDMI", isCapture: false, isPlayback: true),
        .init(name: "hw:CARD=Other,DEV=0", label: "Analog", isCapture: true, isPlayback: true),
      ]
    )
    plan.settle(among: [other], at: Self.later(11)) { _, _ in }
    #expect(plan.unsettled == [.capture] && plan.route.capture == .pcm("hw:CARD=Other,DEV=0"))
    // Nothing else is tried while one stands in.
    #expect(Self.names(plan, .capture, []).isEmpty)
    #expect(Self.names(plan, .capture, [Self.headset]) == [.pcm("hw:1,0")])
    plan.settle(among: [other, Self.headset], at: Self.later(12)) { _, _ in }
    #expect(plan.unsettled.isEmpty)
  }

  @Test func otherWishIsMetWhileTheVoiceStaysWhereItIs() {
    let other = Self.card(2, "Other", port: 3)
    let cards = [Self.headset, other]
    var plan = RoutePlan(Self.wish, cards: cards, at: Self.start)
    let devices = DeviceSelection(capture: .pcm("hw:Other"), playback: Self.wish.playback)
    #expect(plan.wish(for: devices, among: cards, known: KnownCards(), at: Self.later(5)).isEmpty)
    #expect(plan.unsettled == [.capture] && plan.route.capture == Self.wish.capture)
    // It is busy: nothing else is tried, and nothing is lost.
    plan.settle(among: cards, at: Self.later(6)) { name, _ in
      #expect(name == .pcm("hw:Other"))
      throw CancellationError()
    }
    #expect(plan.route.capture == Self.wish.capture)
    plan.settle(among: cards, at: Self.later(7)) { _, _ in }
    #expect(plan.unsettled.isEmpty && plan.route.capture == .pcm("hw:Other"))
    // Back to what it was before it was open: nothing is to be done.
    _ = plan.wish(for: Self.wish, among: cards, known: KnownCards(), at: Self.later(8))
    #expect(plan.wish(for: devices, among: cards, known: KnownCards(), at: Self.later(9)).isEmpty)
    #expect(plan.unsettled.isEmpty)
  }

  @Test func sameCardInAnotherWayIsLetGoFirst() {
    var plan = RoutePlan(Self.wish, cards: [Self.headset], at: Self.start)
    let devices = DeviceSelection(
      capture: .pcm("plughw:Headset"),
      playback: Self.wish.playback
    )
    let blocked = plan.wish(
      for: devices,
      among: [Self.headset],
      known: KnownCards(),
      at: Self.later(5)
    )
    #expect(blocked == .capture && plan.route.capture == nil)
    // It does not open in that way: what worked is used on.
    plan.settle(among: [Self.headset], at: Self.later(6)) { name, _ in
      if name == devices.capture { throw CancellationError() }
    }
    #expect(plan.route.capture == Self.wish.capture && plan.unsettled == [.capture])
  }

  @Test func cardThatCameBackUnderAnotherNumberIsWhatIsWishedFor() {
    var plan = RoutePlan(Self.wish, cards: [Self.headset], at: Self.start)
    let known = plan.identities
    let returned = SoundCard(
      number: 3,
      id: "Headset_1",
      name: "Headset",
      identity: Self.headset.identity
    )
    plan.noteLost(.both, at: Self.later(10))
    plan.settle(among: [returned], at: Self.later(11)) { _, _ in }
    #expect(plan.route.capture == .pcm("hw:3,0"))
    let other = DeviceSelection(capture: .null, playback: Self.wish.playback)
    _ = plan.wish(for: other, among: [returned], known: known, at: Self.later(12))
    let blocked = plan.wish(for: Self.wish, among: [returned], known: known, at: Self.later(13))
    #expect(blocked.isEmpty && plan.unsettled.isEmpty && plan.route.capture == .pcm("hw:3,0"))
  }

  @Test func cardBehindAServerIsLetGoFirst() {
    var plan = RoutePlan(.systemDefault, cards: [Self.headset], at: Self.start)
    let blocked = plan.wish(
      for: Self.wish,
      among: [Self.headset],
      known: KnownCards(),
      at: Self.later(5)
    )
    #expect(blocked == .both)
    plan.settle(among: [Self.headset], at: Self.later(6)) { name, _ in
      if name != .pcm("default") { throw CancellationError() }
    }
    #expect(plan.route == .init(capture: .pcm("default"), playback: .pcm("default")))
    plan.settle(among: [Self.headset], at: Self.later(7)) { _, _ in }
    #expect(plan.unsettled.isEmpty && plan.route == plan.wantedRoute)
  }

  @Test func soundServerIsWaitedForWithoutASubstitute() {
    var plan = RoutePlan(.systemDefault, cards: [Self.headset], at: Self.start)
    plan.noteLost(.both, at: Self.later(10))
    #expect(Self.names(plan, .playback, [Self.headset]) == [.pcm("default")])
  }

  @Test func headsetThatIsNotPluggedInYetIsWaitedFor() {
    let known = RoutePlan(Self.wish, cards: [Self.headset], at: Self.start).identities
    let stranger = Self.card(1, "Stranger", port: 5)
    var wish = Self.wish
    (wish.captureStandIn, wish.playbackStandIn) = (.pcm("default"), .pcm("default"))
    wish.known = known
    var plan = RoutePlan(wish, cards: [stranger], at: Self.start)
    // Under its number is another card.
    #expect(plan.isElsewhere(among: [stranger]) && !plan.isElsewhere(among: [Self.headset]))
    plan.noteLost(.both, at: Self.start)
    #expect(Self.names(plan, .capture, [stranger]).first == .pcm("default"))
    plan.settle(among: [stranger], at: Self.later(1)) { _, _ in }
    #expect(plan.route == .init(capture: .pcm("default"), playback: .pcm("default")))
    plan.settle(among: [stranger, Self.card(2, "Headset", port: 2)], at: Self.later(9)) { _, _ in }
    #expect(plan.unsettled.isEmpty && plan.route.capture == .pcm("hw:2,0"))
    // What stands in stays the same, however often it is pulled.
    plan.noteLost(.both, at: Self.later(20))
    #expect(Self.names(plan, .capture, [stranger]).first == .pcm("default"))
  }

  @Test func nameMayMeanAnotherCardOnTheOtherSide() {
    let other = Self.card(1, "Speaker", port: 4)
    var known = KnownCards()
    known[.capture, .pcm("hw:1,0")] = Self.headset.identity
    let devices = DeviceSelection(capture: .pcm("hw:1,0"), playback: .pcm("hw:1,0"))
    let moved = Self.card(2, "Headset", port: 2)
    let plan = RoutePlan(devices, cards: [other, moved], known: known, at: Self.start)
    #expect(plan.isElsewhere(among: [other, moved]))
    #expect(plan.devices(among: [other, moved]).contains(.pcm("hw:2,0")))
    #expect(plan.identities[.playback, .pcm("hw:1,0")] == other.identity)
  }

  @Test func cardThatIsNotThereLetsNothingGo() {
    var plan = RoutePlan(.systemDefault, cards: [], at: Self.start)
    var known = KnownCards()
    known[.capture, Self.wish.capture] = Self.headset.identity
    let blocked = plan.wish(for: Self.wish, among: [], known: known, at: Self.later(5))
    #expect(blocked.isEmpty && plan.route.capture == .pcm("default"))
    #expect(plan.unsettled == [.capture, .playback])
  }

  @Test func whatTheUserNamesHasNoStandIn() {
    var wish = Self.wish
    (wish.captureStandIn, wish.playbackStandIn) = (wish.capture, wish.playback)
    var plan = RoutePlan(wish, cards: [Self.headset], at: Self.start)
    plan.noteLost(.both, at: Self.later(10))
    #expect(Self.names(plan, .capture, []).isEmpty)
  }

  @Test func cardsWithoutSerialAreKnownByPlaceThenByMake() {
    func plain(_ path: String, product: String = "046d:0a44") -> SoundCard {
      SoundCard(number: 0, id: "A", name: "A", identity: .init(product: product, path: path))
    }
    let own = plain("/1-1")
    let moved = plain("/1-2")
    #expect(SoundCard.card(with: own.identity, among: [moved, own]) == own)
    #expect(SoundCard.card(with: own.identity, among: [moved]) == moved)
    #expect(SoundCard.card(with: own.identity, among: [moved, plain("/1-3")]) == nil)
    let twin = Self.card(2, "Twin", port: 1)
    #expect(SoundCard.card(with: Self.headset.identity, among: [twin]) == nil)
    let builtIn = plain("/platform", product: "")
    #expect(SoundCard.card(with: builtIn.identity, among: [plain("/pci", product: "")]) == nil)
  }

  @Test func twinsWithOneSerialNumberAreKnownByPlace() {
    func twin(_ number: Int, at path: String) -> SoundCard {
      SoundCard(
        number: number,
        id: "Twin\(number)",
        name: "Twin",
        identity: .init(product: "0d8c:0014", serial: "A1", path: path)
      )
    }
    let (first, second) = (twin(1, at: "/1-1"), twin(2, at: "/1-2"))
    for own in [first, second] {
      #expect(SoundCard.card(with: own.identity, among: [first, second]) == own)
    }
    // Elsewhere it is known as long as it is the only one.
    let moved = twin(3, at: "/1-3")
    #expect(SoundCard.card(with: first.identity, among: [moved]) == moved)
    #expect(SoundCard.card(with: first.identity, among: [second, moved]) == nil)
  }

  @Test func standInThatDoesNotWorkMakesRoomForAnother() {
    func other(_ number: Int) -> SoundCard {
      SoundCard(
        number: number,
        id: "Other\(number)",
        name: "Other",
        identity: .init(path: "/devices/pci\(number)"),
        devices: [
          .init(name: "hw:CARD=Other\(number),DEV=0", label: "", isCapture: true, isPlayback: true)
        ]
      )
    }
    let cards = [other(2), other(3)]
    var plan = RoutePlan(Self.wish, cards: [Self.headset], at: Self.start)
    plan.noteLost(.capture, at: Self.later(10))
    plan.settle(among: cards, at: Self.later(10)) { _, _ in }
    let first = plan.route.capture
    plan.noteLost(.capture, at: Self.later(11))
    plan.settle(among: cards, at: Self.later(11)) { _, _ in }
    let second = plan.route.capture
    #expect(first != nil && second != nil && first != second)
    // One that worked for long is taken again.
    plan.noteLost(.capture, at: Self.later(30))
    plan.settle(among: cards, at: Self.later(30)) { _, _ in }
    #expect(plan.route.capture == second)
  }

  @Test func renumberedCardIsWhatWasExpected() {
    var plan = RoutePlan(Self.wish, cards: [Self.headset], at: Self.start)
    plan.noteLost(.capture, at: Self.later(10))
    let returned = SoundCard(
      number: 3,
      id: "Headset",
      name: "Headset",
      identity: Self.headset.identity
    )
    #expect(plan.expectedRoute.capture == Self.wish.capture)
    plan.settle(among: [returned], at: Self.later(10)) { _, _ in }
    #expect(plan.route.capture == .pcm("hw:3,0") && plan.expectedRoute == plan.route)
  }

  @Test func deviceThatOpensAndDoesNotWorkIsTriedLessAndLess() {
    var plan = RoutePlan(Self.wish, cards: [Self.headset], at: Self.start)
    var now = Self.start
    var tries = 0
    // It is lost a second after each time that it was opened.
    for _ in 0..<300 {
      now = now.advanced(byNanoseconds: 1_000_000_000)
      if plan[.capture].isSettled { plan.noteLost(.capture, at: now) }
      plan.settle(among: [Self.headset], at: now) { _, _ in tries += 1 }
    }
    #expect((5...20).contains(tries), "\(tries) tries in 300 s")
  }

  @Test func errorsThatPassAreWaitedFor() {
    let plan = RoutePlan(Self.wish, cards: [Self.headset], at: Self.start)
    func error(_ kind: AudioDeviceError.Kind, _ device: String) -> AudioDeviceError {
      AudioDeviceError(kind: kind, device: device, operation: "open", reason: "")
    }
    #expect(plan.isWorthWaiting(after: error(.busy, "anything"), among: []))
    #expect(plan.isWorthWaiting(after: error(.lost, "hw:1,0"), among: []))
    // Not permitted yet: it has just been plugged in.
    #expect(plan.isWorthWaiting(after: error(.other, "hw:1,0"), among: []))
    #expect(!plan.isWorthWaiting(after: error(.unsupportedFormat, "hw:1,0"), among: []))
    let wrong = RoutePlan(Self.wish, cards: [], at: Self.start)
    #expect(!wrong.isWorthWaiting(after: error(.lost, "hw:1,0"), among: []))
    let resumed = RoutePlan(Self.wish, cards: [], known: plan.identities, at: Self.start)
    #expect(resumed.isWorthWaiting(after: error(.notFound, "hw:1,0"), among: []))
  }

  /// A card has another number since it was named, and does not start yet.
  @Test func cardThatHasMovedIsWaitedForUnderItsNewName() {
    let known = RoutePlan(Self.wish, cards: [Self.headset], at: Self.start).identities
    let moved = SoundCard(
      number: 3,
      id: "Headset",
      name: "Headset",
      identity: Self.headset.identity
    )
    let plan = RoutePlan(Self.wish, cards: [moved], known: known, at: Self.start)
    let error = AudioDeviceError(kind: .other, device: "hw:3,0", operation: "start", reason: "")
    #expect(plan.isWorthWaiting(after: error, among: [moved]))
    #expect(!plan.isWorthWaiting(after: error, among: [Self.headset]))
  }

  /// A sound server is starting again while a held call is resumed.
  @Test func serversThatHaveBeenOpenAreWaitedFor() {
    let refused = AudioDeviceError(kind: .other, device: "default", operation: "open", reason: "")
    let wish = DeviceSelection(capture: .pcm("default"), playback: .pcm("default"))
    var plan = RoutePlan(wish, cards: [], at: Self.start)
    #expect(!plan.isWorthWaiting(after: refused, among: []))
    plan.noteOpened()
    #expect(plan.isWorthWaiting(after: refused, among: []))
    let resumed = RoutePlan(wish, cards: [], known: plan.identities, at: Self.start)
    #expect(resumed.isWorthWaiting(after: refused, among: []))
    let other = AudioDeviceError(kind: .other, device: "pulse", operation: "open", reason: "")
    #expect(!resumed.isWorthWaiting(after: other, among: []))
  }

  @Test func cardIsNamedWhereverItStandsAmongTheArguments() {
    let name = CardName(.pcm("hw:DEV=0,CARD=Headset"))
    #expect(name?.card == "Headset")
    #expect(name?.renamed(toCard: 4) == .pcm("hw:DEV=0,CARD=4"))
  }

  @Test(arguments: ["default", "headset:1", "hw", "hw:", "pulse", "jack", "plughw:CARD="])
  func namesThatAreNoCards(name: String) {
    #expect(CardName(.pcm(name)) == nil)
  }
}
