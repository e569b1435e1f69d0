extension AVAudioSession {
  /// Beginning or end of a time in which secondary sound should be silent.
  public enum SilenceSecondaryAudioHintType: UInt, Sendable {
    /// Secondary sound may be heard again.
    case end = 0
    /// Secondary sound should be silent from now on.
    case begin = 1
  }
}
