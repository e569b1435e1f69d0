public import Foundation

/// How a provider's calls look and how many there may be.
open class CXProviderConfiguration: NSObject, NSCopying {
  /// The app's name on the call screen.
  public let localizedName: String?
  /// How many calls are shown separately; 2 at first.
  open var maximumCallGroups = 2
  /// The size of a conference; 5 at first.
  open var maximumCallsPerCallGroup = 5
  /// True to keep ended calls in the list of recent ones.
  open var includesCallsInRecents = true
  /// True to offer video.
  open var supportsVideo = false
  /// The kinds of address that the app can dial.
  open var supportedHandleTypes: Set<CXHandle.HandleType> = []
  /// The ringtone's file in the app's resources; nil for the system's.
  open var ringtoneSound: String?
  /// A template image for the call screen.
  open var iconTemplateImageData: Data?

  /// A configuration with the defaults.
  public override init() {
    localizedName = nil
    super.init()
  }

  /// A configuration with a name.
  public init(localizedName: String) {
    self.localizedName = localizedName
    super.init()
  }

  /// A configuration with the same values.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = localizedName.map { CXProviderConfiguration(localizedName: $0) }
    let result = copy ?? CXProviderConfiguration()
    result.maximumCallGroups = maximumCallGroups
    result.maximumCallsPerCallGroup = maximumCallsPerCallGroup
    result.includesCallsInRecents = includesCallsInRecents
    result.supportsVideo = supportsVideo
    result.supportedHandleTypes = supportedHandleTypes
    result.ringtoneSound = ringtoneSound
    result.iconTemplateImageData = iconTemplateImageData
    return result
  }
}
