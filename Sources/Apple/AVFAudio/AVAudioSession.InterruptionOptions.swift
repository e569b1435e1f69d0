extension AVAudioSession {
  /// What an app may do after an interruption.
  public struct InterruptionOptions: OptionSet, Hashable, Sendable {
    /// Apple's bits.
    public let rawValue: UInt

    /// Options of Apple's bits.
    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    /// The app may go on.
    public static let shouldResume = InterruptionOptions(rawValue: 1)
  }
}
