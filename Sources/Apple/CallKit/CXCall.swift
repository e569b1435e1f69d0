import CallState
import DesktopServices
public import Foundation

/// A call from an observer's point of view: its state at one moment.
///
/// Two are equal if their UUIDs are.
open class CXCall: NSObject {
  private let snapshot: CallSnapshot

  init(_ snapshot: CallSnapshot) {
    self.snapshot = snapshot
    super.init()
  }

  /// A call of another program.
  convenience init(_ call: ProgramCall, hasEnded: Bool) {
    self.init(
      CallSnapshot(
        id: CallID(call.id),
        isOutgoing: call.isOutgoing,
        isOnHold: call.isOnHold,
        hasConnected: call.hasConnected,
        hasEnded: hasEnded
      )
    )
  }

  /// Identity of the call.
  open var uuid: UUID { snapshot.id.uuid }
  /// True if this side placed it.
  open var isOutgoing: Bool { snapshot.isOutgoing }
  /// True while the call is held.
  open var isOnHold: Bool { snapshot.isOnHold }
  /// True once both sides could talk.
  open var hasConnected: Bool { snapshot.hasConnected }
  /// True once the call is over.
  open var hasEnded: Bool { snapshot.hasEnded }

  /// True if it is the same call.
  open func isEqual(to call: CXCall) -> Bool { uuid == call.uuid }

  /// True if the object is the same call.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? CXCall).map { isEqual(to: $0) } ?? false
  }

  /// Hash of `uuid`.
  open override var hash: Int { uuid.hashValue }
}

extension CallSnapshot {
  /// The call as other programs see it.
  var programCall: ProgramCall {
    ProgramCall(
      id: id.uuid,
      isOutgoing: isOutgoing,
      isOnHold: isOnHold,
      hasConnected: hasConnected
    )
  }
}
