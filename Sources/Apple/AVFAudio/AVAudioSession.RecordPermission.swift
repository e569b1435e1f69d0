extension AVAudioSession {
  /// The user's permission to record.
  public enum RecordPermission: UInt, Sendable {
    /// Not decided yet.
    case undetermined = 1_970_168_948
    /// The user refused.
    case denied = 1_684_369_017
    /// The user agreed.
    case granted = 1_735_552_628
  }
}
