import CallState
public import Foundation

/// Answers an incoming call.
open class CXAnswerCallAction: CXCallAction {
  /// Reports that both sides could talk at `dateConnected`.
  open func fulfill(withDateConnected dateConnected: Date) {
    answer(isFulfilled: true, date: dateConnected)
  }

  override func duplicate() -> CXAction { CXAnswerCallAction(call: callUUID) }

  override var kind: ActionKind { .answer }
}
