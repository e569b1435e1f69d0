import CALSA
import Foundation

/// A sound device, as ALSA lists it.
package struct DeviceDescription: Equatable, Sendable {
  /// The name to open it by.
  package let name: String
  /// The description, in one line.
  package let label: String
  /// True if it has a microphone side.
  package let isCapture: Bool
  /// True if it has a loudspeaker side.
  package let isPlayback: Bool

  /// A description with the given fields.
  package init(name: String, label: String, isCapture: Bool, isPlayback: Bool) {
    self.name = name
    self.label = label
    self.isCapture = isCapture
    self.isPlayback = isPlayback
  }
}

/// The sound devices of this machine.
package enum DeviceList {
  /// All devices that a person would choose from: cards, the default, sound servers.
  ///
  /// ALSA's hints hold dozens of entries for each card (surround layouts, mixers of its own); these
  /// are the ones that reach a headset.
  package static func all() -> [DeviceDescription] {
    AlsaMessage.silence()
    var hints: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    guard unsafe snd_device_name_hint(-1, "pcm", &hints) == 0, let first = unsafe hints else {
      return []
    }
    defer { _ = unsafe snd_device_name_free_hint(first) }
    var found: [DeviceDescription] = []
    var next = unsafe first
    while let hint = unsafe next.pointee {
      if let device = unsafe describe(hint) { found.append(device) }
      unsafe next += 1
    }
    return found
  }

  /// The reason that devices are missing, in words; nil if nothing prevents their use.
  package static func obstacle() -> String? {
    AlsaMessage.silence()
    var hints: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    if unsafe snd_device_name_hint(-1, "pcm", &hints) < 0 {
      let line = AlsaMessage.take() ?? "error"
      return "ALSA's configuration cannot be read: \(line)"
    }
    if let hints = unsafe hints { _ = unsafe snd_device_name_free_hint(hints) }
    // A folder that is not there has no cards in it.
    let nodes = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/snd")) ?? []
    let isBarred = nodes.filter { $0.hasPrefix("controlC") }.contains { node in
      unsafe access("/dev/snd/\(node)", R_OK | W_OK) != 0 && errno == EACCES
    }
    guard isBarred else { return nil }
    return "sound cards are there, and this user may not use them: join the group audio, "
      + "or log in at the machine itself"
  }

  private static func describe(_ hint: UnsafeMutableRawPointer) -> DeviceDescription? {
    guard let name = unsafe text("NAME", of: hint), isChoice(name) else { return nil }
    let direction = unsafe text("IOID", of: hint)
    let label = unsafe text("DESC", of: hint) ?? name
    // Hints give a configured PCM both sides, whatever its definition has.
    let sides = unsafe name.contains(":") ? 3 : alsa_sides(name)
    return DeviceDescription(
      name: name,
      label: label.split(separator: "\n").joined(separator: ", "),
      isCapture: direction != "Output" && sides & 1 != 0,
      isPlayback: direction != "Input" && sides & 2 != 0
    )
  }

  private static func isChoice(_ name: String) -> Bool {
    ["default", "pipewire", "pulse", "jack"].contains(name)
      || name.hasPrefix("hw:") || name.hasPrefix("plughw:") || name.hasPrefix("headset")
  }

  private static func text(_ key: String, of hint: UnsafeMutableRawPointer) -> String? {
    guard let value = unsafe snd_device_name_get_hint(hint, key) else { return nil }
    defer { unsafe free(value) }
    return unsafe String(cString: value)
  }
}
