import ALSAAudio
import AudioRouting
import CallStore

/// Which devices a call takes when none is named: the card that the user chose last whenever it is
/// plugged in, else the best there is.
struct DeviceChoices {
  /// A device, and why it.
  struct Choice: Equatable {
    let name: DeviceName
    let reason: String
  }

  /// All that there is to choose from.
  let devices: [DeviceDescription]
  private let cards: [SoundCard]
  private let memory: DeviceMemory

  /// The machine's devices, by default as they are plugged in now.
  init(
    devices: [DeviceDescription] = DeviceList.all(),
    cards: [SoundCard] = SoundCard.all(),
    memory: DeviceMemory = DeviceMemory()
  ) {
    self.devices = devices
    self.cards = cards
    self.memory = memory
  }

  /// Whether a choice is that device, which may have several names.
  func isChoice(_ choice: Choice?, _ device: DeviceDescription) -> Bool {
    let name = DeviceName.pcm(device.name)
    guard let choice, let chosen = CardName(choice.name), let other = CardName(name) else {
      return choice?.name == name
    }
    return chosen.kind == other.kind && chosen.device == other.device
      && chosen.card(among: cards) == other.card(among: cards)
  }

  /// The card that the user chose last on a side, plugged in or not.
  func remembered(_ side: RememberedSide) -> KnownDevice? { memory.chosen(side) }

  /// What a call would take on a side now; nil if there is nothing.
  func preferred(_ side: RememberedSide) -> Choice? {
    if let chosen = remembered(side)?.name(among: cards) {
      return Choice(name: chosen, reason: "chosen the last time")
    }
    return best(side)
  }

  /// The best there is on a side, whatever was chosen; nil if there is nothing.
  func best(_ side: RememberedSide) -> Choice? {
    let best = DeviceRanking.preferred(among: devices, capture: side == .microphone)
    return best.map { Choice(name: .pcm($0.name), reason: DeviceRanking.reason(for: $0)) }
  }
}
