import ALSAIO
import MediaTime
import RealTime
import Testing

@testable import AVFAudio

/// Which device a side has that nobody has chosen one for, with made-up cards.
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

  private static let automatic = AVAudioSession.Devices(
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
    let answer = plan.welcome(cards, at: now)
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
    #expect(plan.route.playback == .pcm("hw:CARD=PCH,DEV=0"))
    Self.expect(&plan, [Self.builtIn], isNews: false)
    // Another headset is better than what stands in.
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

  @Test func soundServerChoosesItself() {
    var devices = AVAudioSession.Devices.systemDefault
    devices.automatic = .both
    var plan = RoutePlan(devices, cards: [Self.builtIn], at: Self.now)
    Self.expect(&plan, [Self.builtIn, Self.headset], isNews: false)
    #expect(plan.route == .init(capture: .pcm("default"), playback: .pcm("default")))
  }
}
