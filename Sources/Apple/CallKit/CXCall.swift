import CallState
public import Foundation

/// A call as an observer sees it: a value at one moment.
///
/// Equal if the UUIDs are.
open class CXCall: NSObject {
  private let snapshot: CallSnapshot

  init(_ snapshot: CallSnapshot) {
    self.snapshot = snapshot
    super.init()
  }

  /// The call's identity.
  open var uuid: UUID { snapshot.id.uuid }
  /// True if this side placed it.
  open var isOutgoing: Bool { snapshot.isOutgoing }
  /// True while it is held.
  open var isOnHold: Bool { snapshot.isOnHold }
  /// True once both sides could talk.
  open var hasConnected: Bool { snapshot.hasConnected }
  /// True when it is over.
  open var hasEnded: Bool { snapshot.hasEnded }

  /// True if it is the same call.
  open func isEqual(to call: CXCall) -> Bool { uuid == call.uuid }

  /// True if the object is the same call.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? CXCall).map { isEqual(to: $0) } ?? false
  }

  /// Agrees with `isEqual`.
  open override var hash: Int { uuid.hashValue }
}
