import ALSAAudio
import MediaCore
import RealTime
import Testing

@testable import AudioRouting

/// The device of a side without a choice, with scripted cards.
struct AutomaticRouteTests {
  private static func card(_ number: Int, _ id: String, _ label: String) -> SoundCard {
    SoundCard(
      number: number,
      id: id,
      name: label,
      identity: .init(path: "/devices/\(id)"),
      devices: [
        .init(name: "hw:CARD=\(id),DEV=0", label: label, isCapture: true, isPlayback: true)
      ]
    )
  }

  private static let builtIn = card(0, "PCH", "HDA Intel")
  private static let headset = card(1, "H390", "Logitech H390, USB Audio")
  private static let second = card(2, "Jabra", "Jabra Evolve, USB Audio")
  private static let now = MonotonicInstant(nanoseconds: 0)

  private static let automatic = DeviceSelection(
    capture: .pcm("plughw:0,0"),
    playback: .pcm("plughw:0,0"),
    automatic: .both
  )
  private static let onHeadset = RoutePlan.Route(
    capture: .pcm("hw:CARD=H390,DEV=0"),
    playback: .pcm("hw:CARD=H390,DEV=0")
  )

  private static func settle(_ plan: inout RoutePlan, _ cards: [SoundCard]) {
    plan.settle(among: cards, at: now) { _, _ in }
  }

  private static func expect(_ plan: inout RoutePlan, _ cards: [SoundCard], isNews: Bool) {
    let answer = plan.welcome(cards)
    #expect(answer == isNews)
  }

  @Test func headsetIsUsedFromThenOnWhenItIsPluggedIn() {
    var plan = RoutePlan(Self.automatic, cards: [Self.builtIn], at: Self.now)
    #expect(plan.route.capture == .pcm("plughw:0,0"))
    Self.expect(&plan, [Self.builtIn], isNews: false)
    let cards = [Self.builtIn, Self.headset]
    Self.expect(&plan, cards, isNews: true)
    // The voice stays where it is until the headset is open.
    #expect(plan.route.capture == .pcm("plughw:0,0") && plan.unsettled.count == 2)
    Self.settle(&plan, cards)
    #expect(plan.route == Self.onHeadset && plan.unsettled.isEmpty)
    Self.expect(&plan, cards, isNews: false)
  }

  @Test func builtInCardStandsInForAHeadsetThatWasPulled() {
    let cards = [Self.builtIn, Self.headset]
    var plan = RoutePlan(Self.automatic, cards: cards, at: Self.now)
    #expect(plan.route == Self.onHeadset)
    // The system tells that it is gone before the voice thread does.
    Self.expect(&plan, [Self.builtIn], isNews: false)
    plan.noteLost(.both, at: Self.now)
    Self.expect(&plan, [Self.builtIn], isNews: false)
    Self.settle(&plan, [Self.builtIn])
    // What was named is what stands in.
    #expect(plan.route.playback == .pcm("plughw:0,0") && plan.unsettled.count == 2)
    // It is what is wished for as long as there is nothing better: nothing has to be looked for.
    Self.expect(&plan, [Self.builtIn], isNews: false)
    #expect(plan.unsettled.isEmpty)
    // Another headset is better.
    Self.expect(&plan, [Self.builtIn, Self.second], isNews: true)
    Self.settle(&plan, [Self.builtIn, Self.second])
    #expect(plan.route.playback == .pcm("hw:CARD=Jabra,DEV=0"))
  }

  @Test func cardThatIsAsGoodChangesNothing() {
    let cards = [Self.builtIn, Self.headset]
    var plan = RoutePlan(Self.automatic, cards: cards, at: Self.now)
    Self.expect(&plan, [Self.second] + cards, isNews: false)
    #expect(plan.route == Self.onHeadset)
  }

  @Test func whatIsNotThereIsReplacedAtTheStart() {
    var devices = Self.automatic
    devices.capture = .pcm("hw:CARD=Gone,DEV=0")
    let plan = RoutePlan(devices, cards: [Self.builtIn], at: Self.now)
    #expect(plan.route.capture == .pcm("hw:CARD=PCH,DEV=0"))
    #expect(plan.route.playback == .pcm("plughw:0,0"))
  }

  @Test func whatTheUserHasChosenStays() {
    var devices = Self.automatic
    devices.automatic = .playback
    let cards = [Self.builtIn, Self.headset]
    var plan = RoutePlan(devices, cards: [Self.builtIn], at: Self.now)
    Self.expect(&plan, cards, isNews: true)
    Self.settle(&plan, cards)
    #expect(plan.route.capture == .pcm("plughw:0,0"))
    #expect(plan.route.playback == Self.onHeadset.playback)
  }

  @Test func oneHeadsetAfterAnotherIsUsed() {
    var plan = RoutePlan(Self.automatic, cards: [Self.headset], at: Self.now)
    plan.noteLost(.both, at: Self.now)
    Self.settle(&plan, [Self.second])
    Self.expect(&plan, [Self.second], isNews: false)
    #expect(plan.unsettled.isEmpty && plan.wantedRoute.capture == .pcm("hw:CARD=Jabra,DEV=0"))
  }

  @Test func headsetThatDoesNotOpenMakesRoomForAnother() {
    let cards = [Self.builtIn, Self.headset]
    var plan = RoutePlan(Self.automatic, cards: cards, at: Self.now)
    plan.noteLost(.both, at: Self.now)
    plan.settle(among: cards, at: Self.now) { name, _ in
      if name == Self.onHeadset.capture { throw CancellationError() }
    }
    #expect(plan.route.capture == .pcm("plughw:0,0"))
    Self.expect(&plan, cards, isNews: false)
    Self.expect(&plan, cards + [Self.second], isNews: true)
    #expect(plan.wantedRoute.capture == .pcm("hw:CARD=Jabra,DEV=0"))
  }

  @Test func choiceInACallCounts() {
    var plan = RoutePlan(Self.automatic, cards: [Self.builtIn], at: Self.now)
    // The loudspeaker whatever is plugged in: it is in use already.
    var devices = Self.automatic
    devices.automatic = .capture
    let known = KnownCards()
    let blocked = plan.wish(for: devices, among: [Self.builtIn], known: known, at: Self.now)
    #expect(blocked.isEmpty && plan.unsettled.isEmpty)
    let cards = [Self.builtIn, Self.headset]
    Self.expect(&plan, cards, isNews: true)
    #expect(plan.unsettled == [.capture])
    Self.settle(&plan, cards)
    #expect(plan.route.playback == .pcm("plughw:0,0"))
    // And no longer.
    _ = plan.wish(for: Self.automatic, among: cards, known: known, at: Self.now)
    Self.settle(&plan, cards)
    #expect(plan.route == Self.onHeadset)
  }

  @Test func otherSideIsNotChosenAnew() {
    let cards = [Self.builtIn, Self.second]
    var plan = RoutePlan(Self.automatic, cards: cards, at: Self.now)
    var devices = Self.automatic
    devices.automatic = .capture
    let more = [Self.builtIn, Self.headset, Self.second]
    _ = plan.wish(for: devices, among: more, known: KnownCards(), at: Self.now)
    #expect(plan.wantedRoute.capture == .pcm("hw:CARD=Jabra,DEV=0"))
    #expect(plan.wantedRoute.playback == .pcm("plughw:0,0"))
  }

  @Test func cardIsNotTakenForOneThatHadItsName() {
    var known = KnownCards()
    known[.capture, .pcm("hw:CARD=H390,DEV=0")] = Self.second.identity
    let cards = [Self.builtIn, Self.headset]
    let plan = RoutePlan(Self.automatic, cards: cards, known: known, at: Self.now)
    #expect(plan.route == Self.onHeadset && !plan.isElsewhere(among: cards))
  }

  @Test func soundServerChoosesItself() {
    var devices = DeviceSelection.systemDefault
    devices.automatic = .both
    var plan = RoutePlan(devices, cards: [Self.builtIn], at: Self.now)
    Self.expect(&plan, [Self.builtIn, Self.headset], isNews: false)
    #expect(plan.route == .init(capture: .pcm("default"), playback: .pcm("default")))
  }
}
