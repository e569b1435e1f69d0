extension AVAudioSession {
  /// Relation of the app's route to the routes of other apps.
  public enum RouteSharingPolicy: UInt, Sendable {
    /// The usual sharing.
    case `default` = 0
    /// Sharing among players of long-form audio.
    case longFormAudio = 1
    /// No sharing.
    case independent = 2
    /// Sharing among players of long-form video.
    case longFormVideo = 3

    /// Sharing among players of long-form audio: the older name.
    public static let longForm = RouteSharingPolicy.longFormAudio
  }
}
