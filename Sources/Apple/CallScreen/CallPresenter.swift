package import CallState

/// Shows the user what calls there are.
///
/// Called on the call system's queue, whenever something that can be seen has changed.
package protocol CallPresenter: AnyObject, Sendable {
  /// The calls are now these.
  func present(_ presentation: CallPresentation)
  /// A call is over.
  func present(ended record: CallRecord)
}
