import ALSAAudio
import Synchronization

/// Port descriptions of ALSA's devices.
enum SessionPort {
  enum Direction { case input, output }

  /// Returns the port of a device, with ALSA's description as its name.
  static func description(
    of name: DeviceName,
    _ direction: Direction
  ) -> AVAudioSessionPortDescription {
    description(name: name.description, label: label(of: name), direction)
  }

  // A card says itself what it is, quicker than all of ALSA's configuration does.
  private static func label(of name: DeviceName) -> String {
    guard case .pcm(let pcm) = name else { return name.description }
    let found: String? =
      if let card = CardName(name)?.card(among: SoundCard.all()) {
        card.devices.first { $0.name == pcm }?.label ?? card.label
      } else if CardName(name) == nil {
        DeviceList.all().first { $0.name == pcm }?.label
      } else {
        nil
      }
    return labels.withLock { labels in
      if let found { labels[pcm] = found }
      return labels[pcm] ?? pcm
    }
  }

  /// Labels of devices by their PCM names, kept since an unplugged device cannot be asked.
  private static let labels = Mutex<[String: String]>([:])

  /// Returns the ports of all microphones, or of all loudspeakers.
  static func all(_ direction: Direction) -> [AVAudioSessionPortDescription] {
    DeviceList.all().filter { direction == .input ? $0.isCapture : $0.isPlayback }
      .map { description(name: $0.name, label: $0.label, direction) }
  }

  private static func description(
    name: String,
    label: String,
    _ direction: Direction
  ) -> AVAudioSessionPortDescription {
    AVAudioSessionPortDescription(
      portType: type(of: (name + " " + label).lowercased(), direction),
      portName: label,
      uid: name
    )
  }

  private static func isServer(_ words: String) -> Bool {
    ["pipewire", "pulse"].contains { words == $0 || words.hasPrefix($0 + " ") }
  }

  // The card's name is all that ALSA has of its kind.
  private static func type(of words: String, _ direction: Direction) -> AVAudioSession.Port {
    if words.contains("bluez") || words.contains("bluetooth") {
      return direction == .output && words.contains("a2dp") ? .bluetoothA2DP : .bluetoothHFP
    }
    if words.contains("usb") { return .usbAudio }
    // Where a server's sound goes is the server's business.
    if isServer(words) { return .virtual }
    // JACK leads anywhere.
    if words.hasPrefix("jack ") { return direction == .output ? .lineOut : .lineIn }
    if words.contains("hdmi") || words.contains("displayport") { return .HDMI }
    if words.contains("headphone") || words.contains("headset") {
      return direction == .output ? .headphones : .headsetMic
    }
    return direction == .output ? .builtInSpeaker : .builtInMic
  }
}
