import ALSAAudio
import AudioRouting
import CallStore
import Foundation
import Testing

@testable import CommandLine

/// Choice of devices for a call that names none, with made-up cards and a store of the test's own.
struct DeviceChoicesTests {
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

  private let memory: DeviceMemory

  init() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "ranking-\(UUID().uuidString)"
    )
    memory = DeviceMemory(try CallStore(in: folder))
  }

  private func ranking(_ cards: [SoundCard]) -> DeviceChoices {
    DeviceChoices(devices: cards.flatMap(\.devices), cards: cards, memory: memory)
  }

  @Test func headsetIsBetterThanWhatIsBuiltIn() {
    let choice = ranking([Self.builtIn, Self.headset]).preferred(.microphone)
    #expect(choice?.name == .pcm("hw:CARD=H390,DEV=0"))
    #expect(choice?.reason == "on USB")
    #expect(ranking([]).preferred(.microphone) == nil)
  }

  @Test func lastChoiceIsTakenWhereverItsCardIs() {
    let cards = [Self.builtIn, Self.headset]
    memory.note(.microphone, KnownDevice(.pcm("hw:0,0"), among: cards))
    let choice = ranking(cards).preferred(.microphone)
    #expect(choice == .init(name: .pcm("hw:0,0"), reason: "chosen the last time"))
    // The other side was not chosen.
    #expect(ranking(cards).preferred(.loudspeaker)?.name == .pcm("hw:CARD=H390,DEV=0"))

    let moved = SoundCard(
      number: 2,
      id: "PCH_1",
      name: "HDA Intel",
      identity: Self.builtIn.identity
    )
    #expect(ranking([Self.headset, moved]).preferred(.microphone)?.name == .pcm("hw:2,0"))
  }

  @Test func lastChoiceThatIsNotPluggedInIsNotTakenNow() {
    memory.note(.microphone, KnownDevice(.pcm("hw:1,0"), among: [Self.builtIn, Self.headset]))
    let ranking = ranking([Self.builtIn])
    #expect(ranking.preferred(.microphone)?.name == .pcm("hw:CARD=PCH,DEV=0"))
    #expect(ranking.remembered(.microphone)?.identity == Self.headset.identity)
  }

  @Test func defaultForgets() {
    let cards = [Self.builtIn, Self.headset]
    memory.note(.microphone, KnownDevice(.pcm("hw:0,0"), among: cards))
    memory.note(.microphone, KnownDevice(.pcm("default"), among: cards))
    #expect(ranking(cards).preferred(.microphone)?.reason == "on USB")
  }

  @Test func choiceIsFoundUnderItsOtherNames() throws {
    let ranking = ranking([Self.builtIn, Self.headset])
    let choice = DeviceChoices.Choice(name: .pcm("hw:1,0"), reason: "")
    #expect(ranking.isChoice(choice, Self.headset.devices[0]))
    #expect(!ranking.isChoice(choice, Self.builtIn.devices[0]))
    #expect(!ranking.isChoice(nil, Self.headset.devices[0]))
  }
}
