import CALSA
import Foundation

/// A sound card that is plugged in, and the identity by which it is found again.
package struct SoundCard: Equatable, Sendable {
  /// The properties by which a card is recognised when it returns, whatever its number and port.
  package struct Identity: Codable, Equatable, Sendable {
    /// Vendor and product of a USB device, `046d:0a44`; empty for others.
    package let product: String
    /// Its serial number; empty if it has none.
    package let serial: String
    /// The folder of its device under `/sys/devices`, which depends on its port.
    package let path: String

    /// An identity with these fields.
    package init(product: String = "", serial: String = "", path: String) {
      self.product = product
      self.serial = serial
      self.path = path
    }
  }

  /// Its number among ALSA's cards, which may be another one after a replug.
  package let number: Int
  /// Its name among ALSA's cards, such as `Headset`.
  package let id: String
  /// Its name in words.
  package let name: String
  /// Its identity, by which it is found again.
  package let identity: Identity
  /// Its PCMs, with the sides that each has and the names that open them.
  ///
  /// Faster to read than `DeviceList`, which parses ALSA's whole configuration: a call that has
  /// lost its headset can wait for it.
  package let devices: [DeviceDescription]

  /// A card with these fields.
  package init(
    number: Int,
    id: String,
    name: String,
    identity: Identity,
    devices: [DeviceDescription] = []
  ) {
    self.number = number
    self.id = id
    self.name = name
    self.identity = identity
    self.devices = devices
  }

  /// The cards that are plugged in now.
  package static func all() -> [SoundCard] {
    AlsaMessage.silence()
    var cards: [SoundCard] = []
    var number: CInt = -1
    while unsafe snd_card_next(&number) == 0, number >= 0 {
      let index = Int(number)
      let id = line("/proc/asound/card\(index)/id")
      // It is just being plugged in.
      guard !id.isEmpty else { continue }
      let name = name(of: number)
      let identity = identity(ofCard: index)
      cards.append(
        SoundCard(
          number: index,
          id: id,
          name: name,
          identity: identity,
          devices: devices(ofCard: index, id: id, label: label(name, identity))
        )
      )
    }
    return cards
  }

  /// The card among `cards` that matches `identity`: the one with its serial number, else the one
  /// at the same port, else the only one of its product; nil if there is none.
  package static func card(with identity: Identity, among cards: [SoundCard]) -> SoundCard? {
    // Another serial number is another card, wherever it is plugged in.
    let alike = cards.filter {
      $0.identity.product == identity.product
        && ($0.identity.serial == identity.serial || $0.identity.serial.isEmpty
          || identity.serial.isEmpty)
    }
    let same = alike.filter { !identity.serial.isEmpty && $0.identity.serial == identity.serial }
    if same.count == 1 { return same[0] }
    if let inPlace = alike.first(where: { $0.identity.path == identity.path }) { return inPlace }
    // Two of a make without serial numbers, or with the same one, look alike at other ports.
    return identity.product.isEmpty || alike.count != 1 ? nil : alike[0]
  }

  private static func devices(
    ofCard number: Int,
    id: String,
    label: String
  ) -> [DeviceDescription] {
    var control: OpaquePointer?
    guard unsafe snd_ctl_open(&control, "hw:\(number)", 0) == 0, let control = unsafe control else {
      return []
    }
    defer { _ = unsafe snd_ctl_close(control) }
    var found: [DeviceDescription] = []
    var device: CInt = -1
    while unsafe snd_ctl_pcm_next_device(control, &device) == 0, device >= 0 {
      let isCapture = unsafe has(SND_PCM_STREAM_CAPTURE, device, control)
      let isPlayback = unsafe has(SND_PCM_STREAM_PLAYBACK, device, control)
      let words = unsafe [label, pcmName(device, control)]
      found.append(
        DeviceDescription(
          name: "hw:CARD=\(id),DEV=\(device)",
          label: words.filter { !$0.isEmpty }.joined(separator: ", "),
          isCapture: isCapture,
          isPlayback: isPlayback
        )
      )
    }
    return found
  }

  /// The card's name, followed by "(USB)" for a USB card.
  package var label: String { Self.label(name, identity) }

  private static func label(_ name: String, _ identity: Identity) -> String {
    identity.product.isEmpty ? name : "\(name) (USB)"
  }

  private static func pcmName(_ device: CInt, _ control: OpaquePointer) -> String {
    var info: OpaquePointer?
    guard unsafe snd_pcm_info_malloc(&info) == 0, let info = unsafe info else { return "" }
    defer { unsafe snd_pcm_info_free(info) }
    unsafe snd_pcm_info_set_device(info, UInt32(device))
    for stream in [SND_PCM_STREAM_PLAYBACK, SND_PCM_STREAM_CAPTURE] {
      unsafe snd_pcm_info_set_stream(info, stream)
      guard unsafe snd_ctl_pcm_info(control, info) == 0 else { continue }
      return unsafe snd_pcm_info_get_name(info).map { unsafe String(cString: $0) } ?? ""
    }
    return ""
  }

  private static func has(
    _ stream: snd_pcm_stream_t,
    _ device: CInt,
    _ control: OpaquePointer
  ) -> Bool {
    var info: OpaquePointer?
    guard unsafe snd_pcm_info_malloc(&info) == 0, let info = unsafe info else { return false }
    defer { unsafe snd_pcm_info_free(info) }
    unsafe snd_pcm_info_set_device(info, UInt32(device))
    unsafe snd_pcm_info_set_stream(info, stream)
    return unsafe snd_ctl_pcm_info(control, info) == 0
  }

  private static func name(of number: CInt) -> String {
    var text: UnsafeMutablePointer<CChar>?
    guard unsafe snd_card_get_name(number, &text) == 0, let text = unsafe text else { return "" }
    defer { unsafe free(text) }
    return unsafe String(cString: text)
  }

  // A USB card's device is the interface; what has vendor and serial is the folder above.
  private static func identity(ofCard number: Int) -> Identity {
    let link = URL(fileURLWithPath: "/sys/class/sound/card\(number)/device")
    let interface = link.resolvingSymlinksInPath()
    let device = interface.deletingLastPathComponent().path
    let vendor = line("\(device)/idVendor")
    guard !vendor.isEmpty else { return Identity(path: interface.path) }
    return Identity(
      product: "\(vendor):\(line("\(device)/idProduct"))",
      serial: line("\(device)/serial"),
      path: interface.path
    )
  }

  private static func line(_ path: String) -> String {
    // Not every card has every file.
    let text = try? String(contentsOfFile: path, encoding: .utf8)
    return text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
  }
}
