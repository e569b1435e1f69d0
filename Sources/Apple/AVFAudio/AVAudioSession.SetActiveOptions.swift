extension AVAudioSession {
  /// Refinements of `setActive`.
  public struct SetActiveOptions: OptionSet, Hashable, Sendable {
    /// Apple's bits.
    public let rawValue: UInt

    /// Options of Apple's bits.
    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    /// Interrupted programs are notified that they may resume.
    public static let notifyOthersOnDeactivation = SetActiveOptions(rawValue: 1)
  }
}
