extension AVAudioSession {
  /// Use that refines a category, such as voice chat.
  public struct Mode: RawRepresentable, Hashable, Sendable {
    /// Apple's constant.
    public let rawValue: String

    /// Creates a mode from Apple's constant.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// No particular use.
    public static let `default` = Mode(rawValue: "AVAudioSessionModeDefault")
    /// Two-way voice: turns echo cancellation on.
    public static let voiceChat = Mode(rawValue: "AVAudioSessionModeVoiceChat")
    /// Two-way video: turns echo cancellation on.
    public static let videoChat = Mode(rawValue: "AVAudioSessionModeVideoChat")
    /// Voice in games: turns echo cancellation on.
    public static let gameChat = Mode(rawValue: "AVAudioSessionModeGameChat")
    /// Recording of video.
    public static let videoRecording = Mode(rawValue: "AVAudioSessionModeVideoRecording")
    /// Measurement: no filters, unless `speechFilters` selects some.
    public static let measurement = Mode(rawValue: "AVAudioSessionModeMeasurement")
    /// Playback of films.
    public static let moviePlayback = Mode(rawValue: "AVAudioSessionModeMoviePlayback")
    /// Books and talks.
    public static let spokenAudio = Mode(rawValue: "AVAudioSessionModeSpokenAudio")
    /// Spoken instructions.
    public static let voicePrompt = Mode(rawValue: "AVAudioSessionModeVoicePrompt")
  }
}
