public import Foundation

/// Microphone placement, polar patterns and spatial audio, of which Linux reports nothing.
extension AVAudioSession {
  /// Place of a microphone on a device.
  public struct Location: RawRepresentable, Hashable, Sendable {
    /// Apple's constant.
    public let rawValue: String

    /// Creates a place from Apple's constant.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The upper end.
    public static let upper = Location(rawValue: "Upper")
    /// The lower end.
    public static let lower = Location(rawValue: "Lower")
  }

  /// Direction that a microphone points to.
  public struct Orientation: RawRepresentable, Hashable, Sendable {
    /// Apple's constant.
    public let rawValue: String

    /// Creates a direction from Apple's constant.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// To the top.
    public static let top = Orientation(rawValue: "Top")
    /// To the bottom.
    public static let bottom = Orientation(rawValue: "Bottom")
    /// To the front.
    public static let front = Orientation(rawValue: "Front")
    /// To the back.
    public static let back = Orientation(rawValue: "Back")
    /// To the left.
    public static let left = Orientation(rawValue: "Left")
    /// To the right.
    public static let right = Orientation(rawValue: "Right")
  }

  /// Directional sensitivity of a microphone.
  public struct PolarPattern: RawRepresentable, Hashable, Sendable {
    /// Apple's constant.
    public let rawValue: String

    /// Creates a pattern from Apple's constant.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// All directions.
    public static let omnidirectional = PolarPattern(rawValue: "Omnidirectional")
    /// Most sensitive to the front, least to the back.
    public static let cardioid = PolarPattern(rawValue: "Cardioid")
    /// Most sensitive to the front, less to the back.
    public static let subcardioid = PolarPattern(rawValue: "Subcardioid")
    /// Two channels.
    public static let stereo = PolarPattern(rawValue: "Stereo")
  }

  /// Orientation of a device that records two channels.
  public enum StereoOrientation: Int, Sendable {
    /// Unspecified.
    case none = 0
    /// Upright.
    case portrait = 1
    /// Upside down.
    case portraitUpsideDown = 2
    /// Horizontal, with the device's connector on the right.
    case landscapeRight = 3
    /// Horizontal, with the device's connector on the left.
    case landscapeLeft = 4
  }

  /// Style of the voice prompts that an app should play beside other sound.
  public enum PromptStyle: UInt, Sendable {
    /// No prompts.
    case none = 0x6E6F_6E65
    /// Short, nonverbal prompts.
    case short = 0x7368_7274
    /// Usual prompts.
    case normal = 0x6E72_6D6C
  }

  /// Manner in which microphone and loudspeaker are opened.
  public enum IOType: UInt, Sendable {
    /// The system's choice.
    case notSpecified = 0
    /// As one aggregate device.
    case aggregated = 1
  }

  /// Posted when the capabilities of rendering changed, which never happens here.
  public static let renderingCapabilitiesChangeNotification = Notification.Name(
    "AVAudioSessionRenderingCapabilitiesChangeNotification"
  )
  /// Posted when the spatial playback capabilities changed, which never happens here.
  public static let spatialPlaybackCapabilitiesChangedNotification = Notification.Name(
    "AVAudioSessionSpatialPlaybackCapabilitiesChangedNotification"
  )

  /// Style of voice prompts to play: always `normal`.
  public var promptStyle: PromptStyle { .normal }
  /// Orientation of the device while it records two channels: none.
  public var inputOrientation: StereoOrientation { .none }
  /// The value set by `setPreferredInputOrientation`: none.
  public var preferredInputOrientation: StereoOrientation { .none }
  /// True if the app plays several channels: always false, since the voice path is mono.
  public var supportsMultichannelContent: Bool { false }

  /// Sets the orientation for recording two channels; without effect, since the voice is mono.
  public func setPreferredInputOrientation(_ orientation: StereoOrientation) throws {}
  /// Sets whether the app plays several channels; without effect, since the voice is mono.
  public func setSupportsMultichannelContent(_ inValue: Bool) throws {}
  /// Sets how the devices are opened; without effect, since a call opens them together anyway.
  public func setAggregatedIOPreference(_ inIOType: IOType) throws {}
}

/// Key in `userInfo` of a `Bool`, true if spatial audio is enabled.
public let AVAudioSessionSpatialAudioEnabledKey = "AVAudioSessionSpatialAudioEnabledKey"
