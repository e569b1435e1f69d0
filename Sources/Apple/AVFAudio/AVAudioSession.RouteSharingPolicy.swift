extension AVAudioSession {
  /// Relation of the app's route to the routes of other apps.
  public enum RouteSharingPolicy: UInt, Sendable {
    /// The usual sharing.
    case `default` = 0
    /// Sharing among players of long pieces of sound.
    case longFormAudio = 1
    /// No sharing.
    case independent = 2
    /// Sharing among players of long films.
    case longFormVideo = 3

    /// Sharing among players of long pieces of sound: the older name.
    public static let longForm = RouteSharingPolicy.longFormAudio
  }
}
