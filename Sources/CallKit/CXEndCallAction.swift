import CallState
public import Foundation

/// Ends a call, in whatever phase it is.
open class CXEndCallAction: CXCallAction {
  /// Reports that the call ended at `dateEnded`.
  open func fulfill(withDateEnded dateEnded: Date) {
    fulfill()
  }

  override var kind: ActionKind? { .end }
}
