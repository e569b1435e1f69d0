extension AVAudioSession {
  /// What the app does with sound.
  public struct Category: RawRepresentable, Hashable, Sendable {
    /// Apple's constant.
    public let rawValue: String

    /// A value of Apple's name.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// Mixes with others, silenced by the user.
    public static let ambient = Category(rawValue: "AVAudioSessionCategoryAmbient")
    /// The default: interrupts others, silenced by the user.
    public static let soloAmbient = Category(rawValue: "AVAudioSessionCategorySoloAmbient")
    /// Plays.
    public static let playback = Category(rawValue: "AVAudioSessionCategoryPlayback")
    /// Records.
    public static let record = Category(rawValue: "AVAudioSessionCategoryRecord")
    /// Records and plays: what calls use.
    public static let playAndRecord = Category(rawValue: "AVAudioSessionCategoryPlayAndRecord")
    /// Several routes at once.
    public static let multiRoute = Category(rawValue: "AVAudioSessionCategoryMultiRoute")
  }
}
