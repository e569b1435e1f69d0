public import Foundation

/// Delegate of a `CXCallObserver`, notified of changes of calls.
public protocol CXCallObserverDelegate: NSObjectProtocol {
  /// Tells the delegate that a call appeared, connected, was held or resumed, or ended.
  ///
  /// `call` is a value of that moment. An ended call is no longer in `calls`.
  func callObserver(_ callObserver: CXCallObserver, callChanged call: CXCall)
}
