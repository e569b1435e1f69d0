extension AVAudioSession {
  /// Refinements of `setActive`.
  public struct SetActiveOptions: OptionSet, Hashable, Sendable {
    /// Apple's bits.
    public let rawValue: UInt

    /// Creates options from Apple's bits.
    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    /// Programs that were paused for the session resume after a deactivation.
    public static let notifyOthersOnDeactivation = SetActiveOptions(rawValue: 1)
  }
}
