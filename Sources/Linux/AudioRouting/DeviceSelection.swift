public import ALSAAudio
public import RealTime

/// The microphone and the loudspeaker of a session, and the devices that may replace them.
public struct DeviceSelection: Equatable, Sendable {
  /// The microphone.
  public var capture: DeviceName
  /// The loudspeaker.
  public var playback: DeviceName
  /// Sides without a chosen device.
  ///
  /// A better card, such as a headset, replaces the named one as soon as it is plugged in, and any
  /// card replaces one that is missing.
  ///
  /// Has no effect on a side that names a sound server, which chooses itself.
  public var automatic: StreamDirections
  /// The microphone that an activation uses while the card of `capture` is not plugged in; nil for
  /// the best other card.
  public var captureStandIn: DeviceName?
  /// The loudspeaker that an activation uses while the card of `playback` is not plugged in; nil
  /// for the best other card.
  public var playbackStandIn: DeviceName?
  /// Identities of the named cards, so that they may be named while they are not plugged in.
  package var known = KnownCards()

  /// A pair of devices.
  public init(capture: DeviceName, playback: DeviceName, automatic: StreamDirections = []) {
    self.capture = capture
    self.playback = playback
    self.automatic = automatic
  }

  /// The PCM `default` on both sides: the devices chosen in the desktop's settings.
  public static let systemDefault = DeviceSelection(
    capture: .pcm("default"),
    playback: .pcm("default")
  )
}
