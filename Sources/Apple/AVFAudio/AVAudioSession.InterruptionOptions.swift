extension AVAudioSession {
  /// Hints about the end of an interruption.
  public struct InterruptionOptions: OptionSet, Hashable, Sendable {
    /// Apple's bits.
    public let rawValue: UInt

    /// Creates options from Apple's bits.
    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    /// The app may resume its sound.
    public static let shouldResume = InterruptionOptions(rawValue: 1)
  }
}
