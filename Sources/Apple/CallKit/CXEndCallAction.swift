import CallState
public import Foundation

/// Ends a call, whatever its state.
open class CXEndCallAction: CXCallAction {
  /// Reports that the call ended at `dateEnded`.
  open func fulfill(withDateEnded dateEnded: Date) {
    answer(isFulfilled: true, date: dateEnded)
  }

  override func duplicate() -> CXAction { CXEndCallAction(call: callUUID) }

  override var kind: ActionKind { .end }
}
