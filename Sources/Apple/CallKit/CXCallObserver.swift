public import Foundation

/// Sees every call of the process.
///
/// **Thread safety:** every member may be used from any thread, also inside `callChanged`.
open class CXCallObserver: NSObject {
  private struct Listener {
    weak var delegate: (any CXCallObserverDelegate)?
    var queue = DispatchQueue.main
  }

  // Confined to the call system's queue.
  private var listener = Listener()

  /// An observer without a delegate.
  public override init() {
    super.init()
    CallSystem.shared.add(observer: self)
  }

  /// The calls that live, as they are now.
  open var calls: [CXCall] { CallSystem.shared.calls }

  /// Sets the delegate that receives changes, on `queue` or else the main queue.
  ///
  /// The delegate is held weakly.
  open func setDelegate(_ delegate: (any CXCallObserverDelegate)?, queue: DispatchQueue?) {
    let crossing = UncheckedTransfer(
      value: (self, Listener(delegate: delegate, queue: queue ?? .main))
    )
    CallSystem.shared.perform { crossing.value.0.listener = crossing.value.1 }
  }

  /// Called on the call system's queue.
  func notify(_ call: CXCall) {
    guard let delegate = listener.delegate else { return }
    let crossing = UncheckedTransfer(value: (self, delegate, call))
    listener.queue.async {
      crossing.value.1.callObserver(crossing.value.0, callChanged: crossing.value.2)
    }
  }
}
