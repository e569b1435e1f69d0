public import Foundation

/// What an app knows about a call; what is not set leaves the call as it is.
open class CXCallUpdate: NSObject, NSCopying {
  /// Who calls or is called.
  open var remoteHandle: CXHandle?
  /// The name to show.
  open var localizedCallerName: String?
  /// True for a video call.
  open var hasVideo = false

  /// An update that sets nothing.
  public override init() {
    super.init()
  }

  /// An update that sets the same.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = CXCallUpdate()
    copy.remoteHandle = remoteHandle
    copy.localizedCallerName = localizedCallerName
    copy.hasVideo = hasVideo
    return copy
  }
}
