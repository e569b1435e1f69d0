public import Foundation
import Synchronization

/// Actions that are accepted or refused together and performed in order.
///
/// **Thread safety:** every member may be used from any thread, also while the call layer performs
/// the actions; what is added after the request does not count.
open class CXTransaction: NSObject, NSCopying, NSSecureCoding {
  private let identity: UUID
  private let list: Mutex<UncheckedTransfer<[CXAction]>>

  /// A transaction without actions.
  public override init() {
    identity = UUID()
    list = Mutex(UncheckedTransfer(value: []))
    super.init()
  }

  /// A transaction of the given actions.
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

  /// A transaction of one action.
  public convenience init(action: CXAction) {
    self.init(actions: [action])
  }

  /// A transaction from an archive; nil if it holds none.
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

  /// The transaction's identity, which survives copying and archiving.
  open var uuid: UUID { identity }

  /// The actions, in order.
  open var actions: [CXAction] { list.withLock { $0 }.value }

  /// True once every action is complete; true for an empty one.
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

  /// A new object with the same identity and copied actions.
  open func copy(with zone: NSZone? = nil) -> Any {
    CXTransaction(identity: identity, actions: actions.compactMap { $0.copy() as? CXAction })
  }
}
