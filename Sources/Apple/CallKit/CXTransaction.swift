public import Foundation
import Synchronization

/// Actions that are accepted or refused together and performed in order.
///
/// **Thread safety:** every member may be used from any thread, also while the call layer performs
/// the actions; actions added after the request are ignored.
open class CXTransaction: NSObject, NSCopying, NSSecureCoding {
  private let identity: UUID
  private let list: Mutex<UncheckedTransfer<[CXAction]>>

  /// Creates a transaction without actions.
  public override init() {
    identity = UUID()
    list = Mutex(UncheckedTransfer(value: []))
    super.init()
  }

  /// Creates a transaction of the given actions.
  public init(actions: [CXAction]) {
    identity = UUID()
    list = Mutex(UncheckedTransfer(value: actions))
    super.init()
  }

  private init(identity: UUID, actions: [CXAction]) {
    self.identity = identity
    list = Mutex(UncheckedTransfer(value: actions))
    super.init()
  }

  /// Creates a transaction of one action.
  public convenience init(action: CXAction) {
    self.init(actions: [action])
  }

  /// Creates a transaction from an archive; nil if the archive holds none.
  public required init?(coder: NSCoder) {
    let classes: [AnyClass] = [
      NSArray.self, CXStartCallAction.self, CXAnswerCallAction.self, CXEndCallAction.self,
      CXSetHeldCallAction.self, CXSetMutedCallAction.self, CXSetGroupCallAction.self,
      CXPlayDTMFCallAction.self, CXSetTranslatingCallAction.self, CXCallAction.self, CXAction.self,
    ]
    guard let uuid = coder.decodeUUID(forKey: "uuid"),
      let actions = coder.decodeObject(of: classes, forKey: "actions") as? [CXAction]
    else { return nil }
    identity = uuid
    list = Mutex(UncheckedTransfer(value: actions))
    super.init()
  }

  /// Identity of the transaction, which survives copying and archiving.
  open var uuid: UUID { identity }

  /// Actions, in order.
  open var actions: [CXAction] { list.withLock { $0 }.value }

  /// True once every action is complete, or if there are none.
  open var isComplete: Bool { actions.allSatisfy(\.isComplete) }

  /// Appends an action.
  open func addAction(_ action: CXAction) {
    let crossing = UncheckedTransfer(value: action)
    list.withLock { $0 = UncheckedTransfer(value: $0.value + [crossing.value]) }
  }

  /// True: transactions can be archived securely.
  open class var supportsSecureCoding: Bool { true }

  /// Archives identity and actions.
  open func encode(with coder: NSCoder) {
    coder.encode(identity, forKey: "uuid")
    coder.encode(NSArray(array: actions), forKey: "actions")
  }

  /// Returns a new object with the same identity and copied actions.
  open func copy(with zone: NSZone? = nil) -> Any {
    CXTransaction(identity: identity, actions: actions.compactMap { $0.copy() as? CXAction })
  }
}
