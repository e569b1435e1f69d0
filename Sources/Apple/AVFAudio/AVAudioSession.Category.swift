extension AVAudioSession {
  /// The app's use of sound.
  public struct Category: RawRepresentable, Hashable, Sendable {
    /// Apple's constant.
    public let rawValue: String

    /// Creates a category from Apple's constant.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// Sound that mixes with other programs' and that the user can silence.
    public static let ambient = Category(rawValue: "AVAudioSessionCategoryAmbient")
    /// The default: sound that interrupts other programs' and that the user can silence.
    public static let soloAmbient = Category(rawValue: "AVAudioSessionCategorySoloAmbient")
    /// Playback.
    public static let playback = Category(rawValue: "AVAudioSessionCategoryPlayback")
    /// Recording.
    public static let record = Category(rawValue: "AVAudioSessionCategoryRecord")
    /// Recording and playback: the category of calls.
    public static let playAndRecord = Category(rawValue: "AVAudioSessionCategoryPlayAndRecord")
    /// Several routes at once.
    public static let multiRoute = Category(rawValue: "AVAudioSessionCategoryMultiRoute")
  }
}
