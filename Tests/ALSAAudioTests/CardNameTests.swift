import Testing

@testable import ALSAAudio

struct CardNameTests {
  private func card(_ text: String) -> CardName? { CardName(DeviceName(text)) }

  @Test(arguments: [
    ("hw:1,0", "hw", "1", "0"), ("hw:1,3", "hw", "1", "3"), ("hw:1", "hw", "1", "0"),
    ("plughw:Headset", "plughw", "Headset", "0"),
    ("plughw:CARD=Headset,DEV=2", "plughw", "Headset", "2"),
    ("sysdefault:CARD=PCH", "sysdefault", "PCH", "0"),
    // alsa-lib takes named arguments in any order.
    ("dsnoop:DEV=1,CARD=PCH", "dsnoop", "PCH", "1"), ("hw:CARD=PCH", "hw", "PCH", "0"),
  ])
  func partsAreFound(text: String, kind: String, card: String, device: String) throws {
    let name = try #require(self.card(text))
    #expect(name.kind == kind && name.card == card && name.device == device)
  }

  @Test(arguments: [
    "default", "null", "file:hw:1.wav", "hw", "hw:", "headset:1", "pipewire", "hw:DEV=1",
    "surround51:1", "plug:hw", "",
  ])
  func whatNamesNoCardIsNone(text: String) {
    #expect(card(text) == nil)
  }

  /// A card that returns may have another number; the rest of the name stays.
  @Test(arguments: [
    ("hw:1,3", "hw:4,3"), ("plughw:Headset", "plughw:4"),
    ("plughw:CARD=Headset,DEV=2", "plughw:CARD=4,DEV=2"),
    ("dsnoop:DEV=1,CARD=PCH", "dsnoop:DEV=1,CARD=4"),
  ])
  func theNumberIsExchanged(text: String, renamed: String) throws {
    #expect(try #require(card(text)).renamed(toCard: 4) == DeviceName(renamed))
  }

  @Test func theCardIsFoundByItsNumberOrItsID() throws {
    let cards = [(0, "PCH"), (1, "Headset"), (2, "1")].map { number, id in
      SoundCard(number: number, id: id, name: "", identity: .init(path: "/\(number)"))
    }
    #expect(card("hw:Headset")?.card(among: cards)?.number == 1)
    #expect(card("hw:0,3")?.card(among: cards)?.id == "PCH")
    // Of two that fit, the first.
    #expect(card("hw:1")?.card(among: cards)?.id == "Headset")
    #expect(card("hw:Gone")?.card(among: cards) == nil)
  }
}
