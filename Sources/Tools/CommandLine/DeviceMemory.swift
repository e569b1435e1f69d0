import ALSAAudio
import AudioRouting
import AVFAudio
import CallStore
import Foundation

/// The devices that the user chose last, by the identities of their cards.
///
/// A card is remembered once a call has worked with it, and used again whenever it is plugged in
/// and no other device is named. Files and virtual devices are not remembered; the name `default`
/// makes the program forget the card.
struct DeviceMemory {
  private let store: CallStore?

  /// Creates a memory, which without a store remembers no device; that is not an error.
  init(_ store: CallStore? = try? CallStore.ofUser()) {
    self.store = store
  }

  /// Returns the card that was chosen last on a side, plugged in or not; nil if none was.
  func chosen(_ side: RememberedSide) -> KnownDevice? {
    // A memory that cannot be read is none: the best device is taken.
    guard let text = try? store?.chosenDevice(side) else { return nil }
    let device = try? JSONDecoder().decode(KnownDevice.self, from: Data(text.utf8))
    return device?.identity == nil ? nil : device
  }

  /// Stores those of the named devices that the session's current route uses: cards with an
  /// identity, and `default`.
  static func note(_ named: [RememberedSide: KnownDevice], in session: AVAudioSession) {
    let route = session.currentRoute
    let inUse: [RememberedSide: String?] = [
      .microphone: route.inputs.first?.uid, .loudspeaker: route.outputs.first?.uid,
    ]
    let worth = named.filter { side, device in
      inUse[side] == device.name && (device.identity != nil || device.name == "default")
    }
    guard !worth.isEmpty else { return }
    let memory = DeviceMemory()
    for (side, device) in worth { memory.note(side, device) }
  }

  /// Remembers what the user has chosen on a side.
  func note(_ side: RememberedSide, _ device: KnownDevice) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // What is not remembered is asked for again.
    guard let data = try? encoder.encode(device) else { return }
    try? store?.setChosenDevice(side, String(decoding: data, as: UTF8.self))
  }
}
