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

  /// The card that was chosen last on a side, plugged in or not; nil if none was.
  func chosen(_ side: DeviceSide) -> KnownDevice? {
    guard let text = try? store?.chosenDevice(side) else { return nil }
    let device = try? JSONDecoder().decode(KnownDevice.self, from: Data(text.utf8))
    return device?.identity == nil ? nil : device
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
