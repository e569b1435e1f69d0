/// The name of a sound device, as a user writes it.
public enum DeviceName: Hashable, Sendable, CustomStringConvertible {
  /// An ALSA PCM: `hw:1,0`, `plughw:Headset`, `default`, the name of a plugin.
  case pcm(String)
  /// `file:PATH.wav`: a WAV file as the microphone, or a recording of the loudspeaker.
  case file(String)
  /// `null`: a silent microphone, and a loudspeaker whose sound is discarded.
  case null

  /// Reads a name; every string is one.
  public init(_ text: String) {
    if text == "null" {
      self = .null
    } else if text.hasPrefix("file:") {
      self = .file(String(text.dropFirst(5)))
    } else {
      self = .pcm(text)
    }
  }

  /// The name as a user writes it.
  public var description: String {
    switch self {
    case .pcm(let name): name
    case .file(let path): "file:\(path)"
    case .null: "null"
    }
  }
}
