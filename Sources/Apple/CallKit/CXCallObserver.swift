public import Foundation

/// Observes all calls of the user: of this program, and of others that use CallKit.
///
/// **Thread safety:** every member may be used from any thread, also inside `callChanged`.
open class CXCallObserver: NSObject {
  private struct Listener {
    weak var delegate: (any CXCallObserverDelegate)?
    var queue = DispatchQueue.main
  }

  // Confined to the call system's queue.
  private var listener = Listener()

  /// Creates an observer without a delegate.
  public override init() {
    super.init()
    CallSystem.shared.add(observer: self)
  }

  /// Calls that are not over, in their present state.
  ///
  /// The first use waits for the bus to list other programs' calls, 2 s at most for each of its
  /// answers.
  open var calls: [CXCall] { CallSystem.shared.calls }

  /// Sets the delegate to notify of changes, on `queue` or, if nil, on the main queue.
  ///
  /// The delegate is held weakly.
  open func setDelegate(_ delegate: (any CXCallObserverDelegate)?, queue: DispatchQueue?) {
    let crossing = UncheckedTransfer(
      value: (self, Listener(delegate: delegate, queue: queue ?? .main))
    )
    CallSystem.shared.perform { crossing.value.0.listener = crossing.value.1 }
  }

  /// Notifies the delegate of a change; called on the call system's queue.
  func notify(_ call: CXCall) {
    guard let delegate = listener.delegate else { return }
    let crossing = UncheckedTransfer(value: (self, delegate, call))
    listener.queue.async {
      crossing.value.1.callObserver(crossing.value.0, callChanged: crossing.value.2)
    }
  }
}
