import Testing

@testable import ALSAAudio

/// Recognition of a remembered headset among the cards that are plugged in now.
struct SoundCardTests {
  private static let product = "046d:0a44"

  private func usb(_ number: Int, serial: String = "", path: String) -> SoundCard {
    SoundCard(
      number: number,
      id: "Headset",
      name: "Headset",
      identity: .init(product: Self.product, serial: serial, path: path)
    )
  }

  private func find(_ identity: SoundCard.Identity, _ cards: SoundCard...) -> Int? {
    SoundCard.card(with: identity, among: cards)?.number
  }

  @Test func aSerialNumberIsFoundAtAnyPort() {
    let wanted = SoundCard.Identity(product: Self.product, serial: "A", path: "/1")
    #expect(find(wanted, usb(3, serial: "B", path: "/1"), usb(4, serial: "A", path: "/2")) == 4)
    // Another serial number is another card, be it at the same port.
    #expect(find(wanted, usb(3, serial: "B", path: "/1")) == nil)
  }

  @Test func withoutSerialNumbersThePortDecides() {
    let wanted = SoundCard.Identity(product: Self.product, path: "/1")
    #expect(find(wanted, usb(3, path: "/2"), usb(4, path: "/1")) == 4)
    #expect(find(wanted, usb(3, path: "/2")) == 3, "the only one of its make")
    #expect(find(wanted, usb(3, path: "/2"), usb(4, path: "/3")) == nil, "two look alike")
  }

  @Test func makersThatGiveAllTheSameSerialNumberMakeCardsThatLookAlike() {
    let wanted = SoundCard.Identity(product: Self.product, serial: "0", path: "/1")
    let cards = [usb(3, serial: "0", path: "/2"), usb(4, serial: "0", path: "/1")]
    #expect(SoundCard.card(with: wanted, among: cards)?.number == 4)
    #expect(
      SoundCard.card(with: wanted, among: [cards[0], usb(5, serial: "0", path: "/3")]) == nil
    )
  }

  @Test func anotherMakeIsAnotherCard() {
    let other = SoundCard(
      number: 3,
      id: "Headset",
      name: "Headset",
      identity: .init(product: "1234:5678", path: "/1")
    )
    #expect(find(.init(product: Self.product, path: "/1"), other) == nil)
  }

  @Test func cardsInTheMachineAreKnownByTheirPlaceAlone() {
    func built(_ number: Int, path: String) -> SoundCard {
      SoundCard(number: number, id: "PCH", name: "HDA Intel PCH", identity: .init(path: path))
    }
    #expect(find(.init(path: "/pci/1"), built(1, path: "/pci/2"), built(2, path: "/pci/1")) == 2)
    #expect(find(.init(path: "/pci/1"), built(1, path: "/pci/2")) == nil)
  }

  @Test func onlyCardsOfUSBAreLabelledSo() {
    #expect(usb(1, path: "/1").label == "Headset (USB)")
    let built = SoundCard(number: 0, id: "PCH", name: "HDA Intel PCH", identity: .init(path: "/1"))
    #expect(built.label == "HDA Intel PCH")
  }
}
