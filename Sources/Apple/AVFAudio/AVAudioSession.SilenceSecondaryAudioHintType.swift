extension AVAudioSession {
  /// Whether secondary sound should be silent.
  public enum SilenceSecondaryAudioHintType: UInt, Sendable {
    /// No longer.
    case end = 0
    /// From now on.
    case begin = 1
  }
}
