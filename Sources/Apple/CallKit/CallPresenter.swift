package import CallState
import Foundation

/// Shows the user what calls there are; the core of the call system depends on none of them.
///
/// Called on the call system's queue, whenever something that can be seen has changed.
package protocol CallPresenter: AnyObject, Sendable {
  /// The calls are now these.
  func present(_ presentation: CallPresentation)
  /// A call is over.
  func present(ended record: CallRecord)
}

/// The call screens of this process.
package enum CallScreens {
  /// Shows calls on one more screen.
  package static func add(_ presenter: any CallPresenter) {
    CallSystem.shared.add(presenter: presenter)
  }

  /// Shows them there no more.
  package static func remove(_ presenter: any CallPresenter) {
    CallSystem.shared.remove(presenter: presenter)
  }

  /// Shows a remark with a call from now on, such as that it is encrypted.
  package static func setRemark(_ remark: String?, of uuid: UUID) {
    CallSystem.shared.setRemark(remark, of: uuid)
  }

  /// Carries out what the user decided on one of them.
  package static func decide(_ decision: UserDecision) {
    CallSystem.shared.decide(decision)
  }
}
