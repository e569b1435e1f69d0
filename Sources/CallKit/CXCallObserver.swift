public import Foundation

/// Sees every call of the process.
open class CXCallObserver: NSObject {
  private weak var delegate: (any CXCallObserverDelegate)?
  private var queue = DispatchQueue.main

  /// An observer without a delegate.
  public override init() {
    super.init()
    CallSystem.shared.add(observer: self)
  }

  /// The calls that live.
  open var calls: [CXCall] { CallSystem.shared.calls }

  /// Sets who is told of changes, on `queue` or else the main queue.
  ///
  /// The delegate is held weakly.
  open func setDelegate(_ delegate: (any CXCallObserverDelegate)?, queue: DispatchQueue?) {
    let crossing = Crossing(value: (self, delegate))
    CallSystem.shared.perform {
      crossing.value.0.delegate = crossing.value.1
      crossing.value.0.queue = queue ?? .main
    }
  }

  /// Called on the call system's queue.
  func notify(_ call: CXCall) {
    guard let delegate else { return }
    let crossing = Crossing(value: (self, delegate, call))
    queue.async {
      crossing.value.1.callObserver(crossing.value.0, callChanged: crossing.value.2)
    }
  }
}

/// Is told when calls change.
public protocol CXCallObserverDelegate: NSObjectProtocol {
  /// A call appeared, connected, or ended. An ended call is no longer in `calls`.
  func callObserver(_ callObserver: CXCallObserver, callChanged call: CXCall)
}
