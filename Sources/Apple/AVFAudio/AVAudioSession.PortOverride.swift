extension AVAudioSession {
  /// Where sound goes whatever is plugged in.
  public enum PortOverride: UInt, Sendable {
    /// Where it goes by itself.
    case none = 0
    /// To the loudspeaker.
    case speaker = 1_936_747_378
  }
}
