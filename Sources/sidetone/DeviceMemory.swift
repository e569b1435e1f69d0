import ALSAIO
import CallStore
import Foundation

/// The devices that the user chose last, by what their cards are known by.
///
/// A card is remembered once a call has worked with it, and used again whenever it is plugged in and no other device
/// is named. Files and made-up devices are not remembered; the name `default` makes an end of it.
struct DeviceMemory {
  private let store: CallStore?

  /// Without a store nothing is remembered, which is no fault.
  init(_ store: CallStore? = try? CallStore.ofUser()) {
    self.store = store
  }

  /// What was chosen last on a side, under the name that it has now; nil if nothing was, or it is not plugged in.
  func chosen(_ side: DeviceSide, among cards: [SoundCard]) -> DeviceName? {
    guard let text = try? store?.chosenDevice(side) else { return nil }
    let device = try? JSONDecoder().decode(KnownDevice.self, from: Data(text.utf8))
    return device?.name(among: cards)
  }

  /// Remembers what the user named on a side and a call has worked with.
  func note(_ side: DeviceSide, _ name: DeviceName, among cards: [SoundCard]) {
    guard CardName(name) != nil || name == .pcm("default") else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(KnownDevice(name, among: cards)) else { return }
    try? store?.setChosenDevice(side, String(decoding: data, as: UTF8.self))
  }
}
