import CallState
public import Foundation

/// A call as an observer sees it: a value at one moment.
///
/// Equal if the UUIDs are.
open class CXCall: NSObject {
  /// The call's identity.
  public let uuid: UUID
  /// True if this side placed it.
  public let isOutgoing: Bool
  /// True while it is held.
  public let isOnHold: Bool
  /// True once both sides could talk.
  public let hasConnected: Bool
  /// True when it is over.
  public let hasEnded: Bool

  init(_ snapshot: CallSnapshot) {
    uuid = snapshot.id.uuid
    isOutgoing = snapshot.isOutgoing
    isOnHold = false
    hasConnected = snapshot.hasConnected
    hasEnded = snapshot.hasEnded
    super.init()
  }

  /// True if it is the same call.
  open func isEqual(to call: CXCall) -> Bool { uuid == call.uuid }

  /// True if the object is the same call.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? CXCall).map { isEqual(to: $0) } ?? false
  }

  /// Agrees with `isEqual`.
  open override var hash: Int { uuid.hashValue }
}
