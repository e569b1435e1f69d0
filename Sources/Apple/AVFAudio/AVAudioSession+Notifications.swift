public import Foundation

extension AVAudioSession {
  /// Posted when a call takes the sound devices from the app, and when the app may reactivate the
  /// session.
  public static let interruptionNotification = Notification.Name(
    "AVAudioSessionInterruptionNotification"
  )
  /// Posted on a private thread when the route changed.
  public static let routeChangeNotification = Notification.Name(
    "AVAudioSessionRouteChangeNotification"
  )
  /// Posted when the sound server went away; a running voice continues in silence and waits for it.
  public static let mediaServicesWereLostNotification = Notification.Name(
    "AVAudioSessionMediaServicesWereLostNotification"
  )
  /// Posted when the sound server is back and a running voice sounds again.
  ///
  /// Differs from Apple's: the session has kept its settings, and no object has to be recreated.
  public static let mediaServicesWereResetNotification = Notification.Name(
    "AVAudioSessionMediaServicesWereResetNotification"
  )
  /// Posted when secondary sound should become silent or may sound again, which never happens here.
  public static let silenceSecondaryAudioHintNotification = Notification.Name(
    "AVAudioSessionSilenceSecondaryAudioHintNotification"
  )
}

/// Key in `userInfo` of an `InterruptionType`, as `UInt`.
public let AVAudioSessionInterruptionTypeKey = "AVAudioSessionInterruptionTypeKey"
/// Key in `userInfo` of `InterruptionOptions`, as `UInt`; only at the end of an interruption.
public let AVAudioSessionInterruptionOptionKey = "AVAudioSessionInterruptionOptionKey"
/// Key in `userInfo` of an `InterruptionReason`, as `UInt`.
public let AVAudioSessionInterruptionReasonKey = "AVAudioSessionInterruptionReasonKey"
/// Key in `userInfo` of a value that is true if the app had been suspended; never set here.
public let AVAudioSessionInterruptionWasSuspendedKey = "AVAudioSessionInterruptionWasSuspendedKey"
/// Key in `userInfo` of a `RouteChangeReason`, as `UInt`.
public let AVAudioSessionRouteChangeReasonKey = "AVAudioSessionRouteChangeReasonKey"
/// Key in `userInfo` of the previous route, an `AVAudioSessionRouteDescription`.
public let AVAudioSessionRouteChangePreviousRouteKey = "AVAudioSessionRouteChangePreviousRouteKey"
/// Key in `userInfo` of a `SilenceSecondaryAudioHintType`, as `UInt`.
public let AVAudioSessionSilenceSecondaryAudioHintTypeKey =
  "AVAudioSessionSilenceSecondaryAudioHintTypeKey"
