import CallState
public import Foundation
import Synchronization

/// Appearance of a provider's calls, and limits on their number.
///
/// **Thread safety:** the provider's own configuration may be changed, as a whole or through
/// `provider.configuration`, while calls go on.
open class CXProviderConfiguration: NSObject, NSCopying {
  private struct Values: Sendable {
    var localizedName: String?
    var ringtoneSound: String?
    var iconTemplateImageData: Data?
    var maximumCallGroups = 2
    var maximumCallsPerCallGroup = 5
    var includesCallsInRecents = true
    var supportsVideo = false
    var supportedHandleTypes: Set<CXHandle.HandleType> = []
    var supportsAudioTranslation = false
    var ringDuration: TimeInterval = 60
  }

  private let values = Mutex(Values())

  /// Creates a configuration with the defaults.
  public override init() {
    super.init()
  }

  /// Creates a configuration with a name, and otherwise the defaults.
  public init(localizedName: String) {
    super.init()
    values.withLock { $0.localizedName = localizedName }
  }

  /// The app's name on the call screen and in the list of recent calls; nil for the program's.
  open var localizedName: String? { values.withLock { $0.localizedName } }

  /// Name or path of the ringtone's file; nil for the system's.
  ///
  /// Differs from Apple's: a file that libsndfile can read, by path or by name beside the program
  /// or in its resources. If it cannot be read, the system's ringtone sounds.
  open var ringtoneSound: String? {
    get { values.withLock { $0.ringtoneSound } }
    set { values.withLock { $0.ringtoneSound = newValue } }
  }

  /// Image for the call screen, a template: a square PNG of which the alpha channel matters.
  ///
  /// Differs from Apple's: the notifications of the app's calls show the image as it is, with its
  /// colours.
  open var iconTemplateImageData: Data? {
    get { values.withLock { $0.iconTemplateImageData } }
    set { values.withLock { $0.iconTemplateImageData = newValue } }
  }

  /// Maximum number of calls and groups, a group counting as one; 2 at first, and 0 refuses every
  /// start.
  open var maximumCallGroups: Int {
    get { values.withLock { $0.maximumCallGroups } }
    set { values.withLock { $0.maximumCallGroups = newValue } }
  }

  /// Maximum number of calls in a group; 5 at first.
  open var maximumCallsPerCallGroup: Int {
    get { values.withLock { $0.maximumCallsPerCallGroup } }
    set { values.withLock { $0.maximumCallsPerCallGroup = newValue } }
  }

  /// True to keep calls in the list of recent ones; true at first, and read when a call ends.
  open var includesCallsInRecents: Bool {
    get { values.withLock { $0.includesCallsInRecents } }
    set { values.withLock { $0.includesCallsInRecents = newValue } }
  }

  /// True if the app supports video; without effect here.
  open var supportsVideo: Bool {
    get { values.withLock { $0.supportsVideo } }
    set { values.withLock { $0.supportsVideo = newValue } }
  }

  /// Kinds of address that the app can dial from the list of recent calls.
  open var supportedHandleTypes: Set<CXHandle.HandleType> {
    get { values.withLock { $0.supportedHandleTypes } }
    set { values.withLock { $0.supportedHandleTypes = newValue } }
  }

  /// True if the app can translate speech; not used here.
  open var supportsAudioTranslation: Bool {
    get { values.withLock { $0.supportsAudioTranslation } }
    set { values.withLock { $0.supportsAudioTranslation = newValue } }
  }

  /// Time in seconds that an incoming call rings before it ends as unanswered.
  ///
  /// 60 at first, and limited to 1 to 3,600. Apple's has no such property: there the system
  /// decides.
  open var ringDuration: TimeInterval {
    get { values.withLock { $0.ringDuration } }
    set {
      values.withLock { $0.ringDuration = newValue.isFinite ? max(1, min(newValue, 3_600)) : 60 }
    }
  }

  /// Returns a configuration with the same values.
  open func copy(with zone: NSZone? = nil) -> Any { duplicate() }

  func duplicate() -> CXProviderConfiguration {
    let twin = CXProviderConfiguration()
    let values = values.withLock { $0 }
    twin.values.withLock { $0 = values }
    return twin
  }

  /// The values in the form that the call layer uses.
  var settings: ProviderSettings {
    values.withLock { values in
      var settings = ProviderSettings(
        name: values.localizedName ?? ProcessInfo.processInfo.processName,
        maximumCallGroups: values.maximumCallGroups,
        maximumCallsPerCallGroup: values.maximumCallsPerCallGroup,
        includesCallsInRecents: values.includesCallsInRecents,
        supportedHandleKinds: Set(
          values.supportedHandleTypes.compactMap { CallHandle.Kind(rawValue: $0.rawValue) }
        ),
        ringtoneSound: values.ringtoneSound,
        icon: values.iconTemplateImageData.map { Array($0) }
      )
      settings.ringDuration = .seconds(values.ringDuration)
      return settings
    }
  }
}
