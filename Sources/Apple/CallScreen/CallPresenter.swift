package import CallState

/// Shows the current calls to the user.
///
/// Called on the call system's queue, whenever anything visible has changed.
package protocol CallPresenter: AnyObject, Sendable {
  /// Shows the current calls, in place of those shown before.
  func present(_ presentation: CallPresentation)
  /// Shows that a call is over.
  func present(ended record: CallRecord)
}
