public import Foundation

/// Receives changes of calls.
public protocol CXCallObserverDelegate: NSObjectProtocol {
  /// A call appeared, connected, was held or resumed, or ended.
  ///
  /// `call` is a value of that moment. An ended call is no longer in `calls`.
  func callObserver(_ callObserver: CXCallObserver, callChanged call: CXCall)
}
