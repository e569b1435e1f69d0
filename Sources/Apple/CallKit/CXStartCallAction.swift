import CallState
public import Foundation

/// Places an outgoing call.
open class CXStartCallAction: CXCallAction {
  private var storedHandle: CXHandle

  /// Identifier of the contact card behind the handle.
  open var contactIdentifier: String?
  /// True for a video call.
  open var isVideo = false

  /// Creates an action that calls `handle`, which is copied.
  public init(call callUUID: UUID, handle: CXHandle) {
    storedHandle = CXHandle(type: handle.type, value: handle.value)
    super.init(call: callUUID)
  }

  /// Creates an action from an archive; nil if the archive holds none.
  public required init?(coder: NSCoder) {
    guard let handle = coder.decodeObject(of: CXHandle.self, forKey: "handle") else { return nil }
    storedHandle = handle
    contactIdentifier = coder.decodeText(forKey: "contactIdentifier")
    isVideo = coder.decodeBool(forKey: "video")
    super.init(coder: coder)
  }

  /// Address to call; copied when set.
  open var handle: CXHandle {
    get { storedHandle }
    set { storedHandle = CXHandle(type: newValue.type, value: newValue.value) }
  }

  /// Reports that the invitation was sent at `dateStarted`.
  open func fulfill(withDateStarted dateStarted: Date) {
    answer(isFulfilled: true, date: dateStarted)
  }

  /// Archives the action's identity and properties.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(storedHandle, forKey: "handle")
    coder.encode(contactIdentifier, forKey: "contactIdentifier")
    coder.encode(isVideo, forKey: "video")
  }

  override func duplicate() -> CXAction {
    let twin = CXStartCallAction(call: callUUID, handle: handle)
    twin.contactIdentifier = contactIdentifier
    twin.isVideo = isVideo
    return twin
  }

  override var kind: ActionKind {
    .start(
      StartRequest(
        handle: CallHandle(handle),
        contactIdentifier: contactIdentifier,
        isVideo: isVideo
      )
    )
  }
}
