import CallState
public import Foundation

/// Takes an incoming call.
open class CXAnswerCallAction: CXCallAction {
  /// Reports that both sides could talk at `dateConnected`.
  open func fulfill(withDateConnected dateConnected: Date) {
    fulfill()
  }

  override var kind: ActionKind? { .answer }
}
