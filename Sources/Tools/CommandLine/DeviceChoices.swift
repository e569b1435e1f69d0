import ALSAAudio
import AudioRouting
import CallStore

/// Choice of devices for calls that name none: the card that the user chose last whenever it is
/// plugged in, else the best there is.
struct DeviceChoices {
  /// A device, and the reason for its choice.
  struct Choice: Equatable {
    let name: DeviceName
    let reason: String
  }

  /// All devices to choose from.
  let devices: [DeviceDescription]
  private let cards: [SoundCard]
  private let memory: DeviceMemory

  /// Creates a choice among the machine's devices, by default as they are plugged in now.
  init(
    devices: [DeviceDescription] = DeviceList.all(),
    cards: [SoundCard] = SoundCard.all(),
    memory: DeviceMemory = DeviceMemory()
  ) {
    self.devices = devices
    self.cards = cards
    self.memory = memory
  }

  /// True if `choice` is `device`, which may have several names.
  func isChoice(_ choice: Choice?, _ device: DeviceDescription) -> Bool {
    let name = DeviceName.pcm(device.name)
    guard let choice, let chosen = CardName(choice.name), let other = CardName(name) else {
      return choice?.name == name
    }
    return chosen.kind == other.kind && chosen.device == other.device
      && chosen.card(among: cards) == other.card(among: cards)
  }

  /// Returns the card that the user chose last on a side, plugged in or not; nil if none was
  /// chosen.
  func remembered(_ side: RememberedSide) -> KnownDevice? { memory.chosen(side) }

  /// Returns the device that a call would take on a side now; nil if there is none.
  func preferred(_ side: RememberedSide) -> Choice? {
    if let chosen = remembered(side)?.name(among: cards) {
      return Choice(name: chosen, reason: "chosen the last time")
    }
    return best(side)
  }

  /// Returns the best device on a side, whatever was chosen before; nil if there is none.
  func best(_ side: RememberedSide) -> Choice? {
    let best = DeviceRanking.preferred(among: devices, capture: side == .microphone)
    return best.map { Choice(name: .pcm($0.name), reason: DeviceRanking.reason(for: $0)) }
  }
}
