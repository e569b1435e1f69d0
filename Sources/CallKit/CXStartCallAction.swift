import CallState
public import Foundation

/// Places an outgoing call.
open class CXStartCallAction: CXCallAction {
  /// Whom to call.
  open var handle: CXHandle
  /// The contact card behind the handle.
  open var contactIdentifier: String?
  /// True for a video call.
  open var isVideo = false

  /// A call to `handle`.
  public init(call callUUID: UUID, handle: CXHandle) {
    self.handle = handle
    super.init(call: callUUID)
  }

  /// Reports that the invitation was sent at `dateStarted`.
  open func fulfill(withDateStarted dateStarted: Date) {
    fulfill()
  }

  override var kind: ActionKind? { .start }
}
