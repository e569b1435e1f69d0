public import Foundation

/// Actions that are accepted or refused together and performed in order.
open class CXTransaction: NSObject, NSCopying, NSSecureCoding {
  private var identity = UUID()
  private var list: [CXAction]

  /// A transaction without actions.
  public override init() {
    list = []
    super.init()
  }

  /// A transaction of the given actions.
  public init(actions: [CXAction]) {
    list = actions
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
    list = actions
    super.init()
  }

  /// The transaction's identity, which survives copying and archiving.
  open var uuid: UUID { identity }

  /// The actions, in order.
  open var actions: [CXAction] { list }

  /// True once every action is complete; true for an empty one.
  open var isComplete: Bool { actions.allSatisfy(\.isComplete) }

  /// Appends an action.
  open func addAction(_ action: CXAction) {
    list.append(action)
  }

  /// True: transactions can be archived securely.
  open class var supportsSecureCoding: Bool { true }

  /// Archives identity and actions.
  open func encode(with coder: NSCoder) {
    coder.encode(identity, forKey: "uuid")
    coder.encode(NSArray(array: list), forKey: "actions")
  }

  /// A new object with the same identity and copied actions.
  open func copy(with zone: NSZone? = nil) -> Any {
    let twin = CXTransaction(actions: list.compactMap { $0.copy() as? CXAction })
    twin.identity = identity
    return twin
  }
}
