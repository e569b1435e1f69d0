extension AVAudioSession {
  /// Reason of an interruption.
  public enum InterruptionReason: UInt, Sendable {
    /// A call, of this program or another, took the devices.
    case `default` = 0
    /// The app was suspended.
    case appWasSuspended = 1
    /// The microphone was muted.
    case builtInMicMuted = 2
    /// The device went away.
    case routeDisconnected = 4
  }
}
