import CallState
public import Foundation

/// What is new about a call; a property that is not set leaves the call as it is.
///
/// Setting a property counts, even to the value that it reads: `supportsHolding = false` is a
/// change, not touching it is none. A capability that was never set counts as supported.
open class CXCallUpdate: NSObject, NSCopying {
  /// What was set.
  private(set) var settings = CallUpdate()

  /// An update that sets nothing.
  public override init() {
    super.init()
  }

  /// Who calls or is called; copied when set.
  open var remoteHandle: CXHandle? {
    get { settings.remoteHandle.value.flatMap { $0 }.map { CXHandle($0) } }
    set { settings.remoteHandle = .set(newValue.map { CallHandle($0) }) }
  }

  /// The name to show.
  open var localizedCallerName: String? {
    get { settings.callerName.value.flatMap { $0 } }
    set { settings.callerName = .set(newValue) }
  }

  /// Whether the call can be held; reads false until set.
  open var supportsHolding: Bool {
    get { settings.supportsHolding.value ?? false }
    set { settings.supportsHolding = .set(newValue) }
  }

  /// Whether the call can join a group; reads false until set.
  open var supportsGrouping: Bool {
    get { settings.supportsGrouping.value ?? false }
    set { settings.supportsGrouping = .set(newValue) }
  }

  /// Whether the call can leave a group; reads false until set.
  open var supportsUngrouping: Bool {
    get { settings.supportsUngrouping.value ?? false }
    set { settings.supportsUngrouping = .set(newValue) }
  }

  /// Whether the call can carry tones; reads false until set.
  open var supportsDTMF: Bool {
    get { settings.supportsDTMF.value ?? false }
    set { settings.supportsDTMF = .set(newValue) }
  }

  /// Whether the call has pictures; reads false until set.
  open var hasVideo: Bool {
    get { settings.hasVideo.value ?? false }
    set { settings.hasVideo = .set(newValue) }
  }

  /// An update that sets the same, and leaves alone the same.
  open func copy(with zone: NSZone? = nil) -> Any {
    let twin = CXCallUpdate()
    twin.settings = settings
    return twin
  }
}
