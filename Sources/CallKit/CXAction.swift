import CallState
public import Foundation
import Synchronization

/// Something that the user or the system asks the app to do with a call.
///
/// The app requests actions in a `CXTransaction`; they come back through the provider's delegate,
/// where each must be fulfilled or failed exactly once. Further answers are ignored.
open class CXAction: NSObject {
  private struct State: Sendable {
    var timeoutDate: Date
    var isComplete = false
    var delivered: ActionID?
  }

  /// The action's identity.
  public let uuid: UUID
  private let state: Mutex<State>

  /// An action of no kind, which no provider performs.
  public override init() {
    uuid = UUID()
    state = Mutex(State(timeoutDate: Date(timeIntervalSinceNow: 5)))
    super.init()
    state.withLock { $0.timeoutDate = Date(timeIntervalSinceNow: Self.timeoutSeconds(of: self)) }
  }

  /// True once it was answered, timed out or became void.
  open var isComplete: Bool { state.withLock { $0.isComplete } }

  /// When it times out: from creation, then anew from delivery.
  open var timeoutDate: Date { state.withLock { $0.timeoutDate } }

  /// Reports that the app has done it.
  ///
  /// Does nothing unless a provider is performing the action.
  open func fulfill() {
    answer(isFulfilled: true)
  }

  /// Reports that the app could not do it.
  ///
  /// Does nothing unless a provider is performing the action.
  open func fail() {
    answer(isFulfilled: false)
  }

  /// What the call layer does when the action is accepted, nil if it cannot be.
  var request: ActionRequest? { nil }

  private static func timeoutSeconds(of action: CXAction) -> Double {
    switch action {
    case is CXStartCallAction: 600
    case is CXAnswerCallAction: 60
    default: 5
    }
  }

  private func answer(isFulfilled: Bool) {
    let delivered = state.withLock { state -> ActionID? in
      guard let delivered = state.delivered, !state.isComplete else { return nil }
      state.isComplete = true
      return delivered
    }
    if let delivered { CallSystem.shared.answer(delivered, isFulfilled: isFulfilled) }
  }

  func markDelivered(as id: ActionID) {
    state.withLock { state in
      state.delivered = id
      state.timeoutDate = Date(timeIntervalSinceNow: Self.timeoutSeconds(of: self))
    }
  }

  func markComplete() {
    state.withLock { $0.isComplete = true }
  }
}
