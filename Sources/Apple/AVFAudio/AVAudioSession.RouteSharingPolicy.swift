extension AVAudioSession {
  /// How routes are shared with other apps.
  public enum RouteSharingPolicy: UInt, Sendable {
    /// The usual way.
    case `default` = 0
    /// As players of long pieces do.
    case longFormAudio = 1
    /// Not at all.
    case independent = 2
    /// As players of long films do.
    case longFormVideo = 3

    /// As players of long pieces do: the older name.
    public static let longForm = RouteSharingPolicy.longFormAudio
  }
}
