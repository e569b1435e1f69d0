public import Foundation

/// Actions that are accepted or refused together and performed in order.
open class CXTransaction: NSObject {
  /// The transaction's identity.
  public let uuid = UUID()
  /// The actions, in order.
  open private(set) var actions: [CXAction]

  /// A transaction without actions.
  public override init() {
    actions = []
    super.init()
  }

  /// A transaction of the given actions.
  public init(actions: [CXAction]) {
    self.actions = actions
    super.init()
  }

  /// A transaction of one action.
  public convenience init(action: CXAction) {
    self.init(actions: [action])
  }

  /// True once every action is complete; true for an empty one.
  open var isComplete: Bool { actions.allSatisfy(\.isComplete) }

  /// Appends an action.
  open func addAction(_ action: CXAction) {
    actions.append(action)
  }
}
