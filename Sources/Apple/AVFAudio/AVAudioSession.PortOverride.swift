extension AVAudioSession {
  /// Output that takes precedence over all plugged-in devices.
  public enum PortOverride: UInt, Sendable {
    /// No override.
    case none = 0
    /// The machine's own loudspeaker.
    case speaker = 1_936_747_378
  }
}
