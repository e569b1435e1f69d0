extension AVAudioSession {
  /// Whether input and output come together.
  public enum IOType: UInt, Sendable {
    /// As it comes.
    case notSpecified = 0
    /// Together.
    case aggregated = 1
  }
}
