extension AVAudioSession {
  /// Beginning or end of an interruption.
  public enum InterruptionType: UInt, Sendable {
    /// The interruption is over.
    case ended = 0
    /// The interruption began; the session is already inactive.
    case began = 1
  }
}
