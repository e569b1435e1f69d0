import CallState
public import Foundation

/// Changed properties of a call; a property that is not set leaves the call as it is.
///
/// Setting a property counts, even to the value that it reads: `supportsHolding = false` is a
/// change, not touching it is none. A capability that was never set counts as supported.
open class CXCallUpdate: NSObject, NSCopying {
  /// The properties that were set.
  private(set) var settings = CallUpdate()

  /// Creates an update that sets nothing.
  public override init() {
    super.init()
  }

  /// Address of the remote party; copied when set.
  open var remoteHandle: CXHandle? {
    get { settings.remoteHandle.value.flatMap { $0 }.map { CXHandle($0) } }
    set { settings.remoteHandle = .set(newValue.map { CallHandle($0) }) }
  }

  /// Name to show for the remote party.
  open var localizedCallerName: String? {
    get { settings.callerName.value.flatMap { $0 } }
    set { settings.callerName = .set(newValue) }
  }

  /// True if the call can be held; reads false until set.
  open var supportsHolding: Bool {
    get { settings.supportsHolding.value ?? false }
    set { settings.supportsHolding = .set(newValue) }
  }

  /// True if the call can join a group; reads false until set.
  open var supportsGrouping: Bool {
    get { settings.supportsGrouping.value ?? false }
    set { settings.supportsGrouping = .set(newValue) }
  }

  /// True if the call can leave a group; reads false until set.
  open var supportsUngrouping: Bool {
    get { settings.supportsUngrouping.value ?? false }
    set { settings.supportsUngrouping = .set(newValue) }
  }

  /// True if the call can send DTMF digits; reads false until set.
  open var supportsDTMF: Bool {
    get { settings.supportsDTMF.value ?? false }
    set { settings.supportsDTMF = .set(newValue) }
  }

  /// True if the call has video; reads false until set.
  open var hasVideo: Bool {
    get { settings.hasVideo.value ?? false }
    set { settings.hasVideo = .set(newValue) }
  }

  /// Returns an update that sets the same properties to the same values.
  open func copy(with zone: NSZone? = nil) -> Any {
    let twin = CXCallUpdate()
    twin.settings = settings
    return twin
  }
}
