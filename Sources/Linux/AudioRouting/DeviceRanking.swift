package import ALSAAudio

/// Order of preference among devices, used for every automatic choice.
package enum DeviceRanking {
  /// The device that a call uses when none is named: the PCM `default`, else a headset, else the
  /// next in rank; nil if no device has that direction.
  package static func preferred(
    among devices: [DeviceDescription],
    capture: Bool
  ) -> DeviceDescription? {
    ranked(devices, capture: capture).first
  }

  /// The devices with a microphone if `capture` is true, otherwise with a loudspeaker; best first.
  package static func ranked(
    _ devices: [DeviceDescription],
    capture: Bool
  ) -> [DeviceDescription] {
    let usable = devices.filter { capture ? $0.isCapture : $0.isPlayback }
    let ranks = usable.map { standing(of: $0).rank }
    return usable.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }.map { usable[$0] }
  }

  /// The reason for a device's rank, in a few words.
  package static func reason(for device: DeviceDescription) -> String {
    standing(of: device).reason
  }

  private static func standing(of device: DeviceDescription) -> (rank: Int, reason: String) {
    let words = (device.name + " " + device.label).lowercased()
    if device.name == "default" { return (0, "the desktop's choice") }
    // A screen may have no loudspeakers.
    if words.contains("hdmi") || words.contains("displayport") { return (7, "a screen") }
    if words.contains("headset") { return (1, "a headset") }
    if words.contains("bluez") || words.contains("bluetooth") { return (2, "on Bluetooth") }
    if words.contains("usb") { return (2, "on USB") }
    if device.name.hasPrefix("plughw:") { return (3, "built in") }
    if device.name.hasPrefix("hw:") { return (4, "built in, without conversion") }
    let isServer = ["pipewire", "pulse"].contains(device.name)
    return isServer ? (5, "a sound server") : (6, "something else")
  }
}
