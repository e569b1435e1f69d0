public import Foundation

extension AVAudioSession {
  /// What the app does with sound.
  public struct Category: RawRepresentable, Hashable, Sendable {
    /// Apple's constant.
    public let rawValue: String

    /// A category of Apple's name.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// Mixes with others, silenced by the user.
    public static let ambient = Category(rawValue: "AVAudioSessionCategoryAmbient")
    /// The default: interrupts others, silenced by the user.
    public static let soloAmbient = Category(rawValue: "AVAudioSessionCategorySoloAmbient")
    /// Plays.
    public static let playback = Category(rawValue: "AVAudioSessionCategoryPlayback")
    /// Records.
    public static let record = Category(rawValue: "AVAudioSessionCategoryRecord")
    /// Records and plays: what calls use.
    public static let playAndRecord = Category(rawValue: "AVAudioSessionCategoryPlayAndRecord")
    /// Several routes at once.
    public static let multiRoute = Category(rawValue: "AVAudioSessionCategoryMultiRoute")
  }

  /// How the app uses its category.
  public struct Mode: RawRepresentable, Hashable, Sendable {
    /// Apple's constant.
    public let rawValue: String

    /// A mode of Apple's name.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// No particular use.
    public static let `default` = Mode(rawValue: "AVAudioSessionModeDefault")
    /// Two-way voice: turns echo cancellation on.
    public static let voiceChat = Mode(rawValue: "AVAudioSessionModeVoiceChat")
    /// Two-way video: turns echo cancellation on.
    public static let videoChat = Mode(rawValue: "AVAudioSessionModeVideoChat")
    /// Voice in games.
    public static let gameChat = Mode(rawValue: "AVAudioSessionModeGameChat")
    /// Recording a film.
    public static let videoRecording = Mode(rawValue: "AVAudioSessionModeVideoRecording")
    /// Turns all processing off.
    public static let measurement = Mode(rawValue: "AVAudioSessionModeMeasurement")
    /// Showing a film.
    public static let moviePlayback = Mode(rawValue: "AVAudioSessionModeMoviePlayback")
    /// Books and talks.
    public static let spokenAudio = Mode(rawValue: "AVAudioSessionModeSpokenAudio")
    /// Spoken instructions.
    public static let voicePrompt = Mode(rawValue: "AVAudioSessionModeVoicePrompt")
  }

  /// Refinements of a category.
  public struct CategoryOptions: OptionSet, Hashable, Sendable {
    /// Apple's bits.
    public let rawValue: UInt

    /// Options of Apple's bits.
    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    /// Other sound goes on.
    public static let mixWithOthers = CategoryOptions(rawValue: 1)
    /// Other sound becomes quieter.
    public static let duckOthers = CategoryOptions(rawValue: 2)
    /// Bluetooth headsets may be used.
    public static let allowBluetooth = CategoryOptions(rawValue: 4)
    /// The loudspeaker rather than the earpiece.
    public static let defaultToSpeaker = CategoryOptions(rawValue: 8)
    /// Other spoken sound is interrupted.
    public static let interruptSpokenAudioAndMixWithOthers = CategoryOptions(rawValue: 17)
    /// Bluetooth loudspeakers may be used.
    public static let allowBluetoothA2DP = CategoryOptions(rawValue: 32)
    /// Network loudspeakers may be used.
    public static let allowAirPlay = CategoryOptions(rawValue: 64)
  }

  /// Refinements of `setActive`.
  public struct SetActiveOptions: OptionSet, Hashable, Sendable {
    /// Apple's bits.
    public let rawValue: UInt

    /// Options of Apple's bits.
    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    /// Interrupted programs are told that they may go on.
    public static let notifyOthersOnDeactivation = SetActiveOptions(rawValue: 1)
  }

  /// Why a session call fails: codes in the domain `NSOSStatusErrorDomain`.
  public enum ErrorCode: Int, Sendable {
    /// An argument makes no sense.
    case badParam = -50
    /// Sound is in use.
    case isBusy = 560_030_580
    /// The device cannot be opened for playing and recording.
    case cannotStartRecording = 561_145_187
    /// Another call has the hardware.
    case insufficientPriority = 561_017_449
    /// There is no device.
    case resourceNotAvailable = 561_145_203

    /// The error as Foundation has it.
    public func error(reason: String) -> NSError {
      NSError(
        domain: "NSOSStatusErrorDomain",
        code: rawValue,
        userInfo: [NSLocalizedDescriptionKey: reason]
      )
    }
  }
}
