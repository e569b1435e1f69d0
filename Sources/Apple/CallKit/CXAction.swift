import CallState
public import Foundation
import Synchronization

/// A change of a call that the user or the system asks the app for.
///
/// The app requests actions in a `CXTransaction`; they come back through the provider's delegate,
/// where each must be fulfilled or failed exactly once. Further answers are ignored.
///
/// **Thread safety:** an action may be answered from any thread, inside `perform` or long after.
///
/// Differs from Apple's: that further or late answers are ignored is guaranteed here only.
open class CXAction: NSObject, NSCopying, NSSecureCoding {
  private struct State: Sendable {
    var uuid = UUID()
    var timeoutDate = Date()
    var isComplete = false
    var isTimedOut = false
    var delivered: ActionID?
  }

  private let state = Mutex(State())

  /// Creates an action without a meaning of its own, which no provider performs.
  public override init() {
    super.init()
    state.withLock { $0.timeoutDate = Date(timeIntervalSinceNow: timeoutInterval) }
  }

  /// Creates an action from an archive; nil if the archive holds none.
  public required init?(coder: NSCoder) {
    super.init()
    guard let uuid = coder.decodeUUID(forKey: Key.uuid) else { return nil }
    state.withLock { state in
      state.uuid = uuid
      state.timeoutDate = Date(timeIntervalSince1970: coder.decodeDouble(forKey: Key.timeoutDate))
      state.isComplete = coder.decodeBool(forKey: Key.isComplete)
    }
  }

  private enum Key {
    static let uuid = "uuid"
    static let timeoutDate = "timeoutDate"
    static let isComplete = "complete"
  }

  /// Identity of the action, which survives copying and archiving.
  open var uuid: UUID { state.withLock { $0.uuid } }

  /// True once the action was answered, timed out or became void.
  open var isComplete: Bool { state.withLock { $0.isComplete } }

  /// Time at which the action times out; set at creation, acceptance and delivery.
  open var timeoutDate: Date { state.withLock { $0.timeoutDate } }

  /// Reports that the app has performed the action.
  ///
  /// Does nothing unless a provider is performing the action.
  open func fulfill() {
    answer(isFulfilled: true)
  }

  /// Reports that the app could not perform the action.
  ///
  /// Does nothing unless a provider is performing the action.
  open func fail() {
    answer(isFulfilled: false)
  }

  // MARK: Copying and archiving

  /// True: actions can be archived securely.
  open class var supportsSecureCoding: Bool { true }

  /// Archives the action's identity and properties.
  open func encode(with coder: NSCoder) {
    let state = state.withLock { $0 }
    coder.encode(state.uuid, forKey: Key.uuid)
    coder.encode(state.timeoutDate.timeIntervalSince1970, forKey: Key.timeoutDate)
    coder.encode(state.isComplete, forKey: Key.isComplete)
  }

  /// Returns a new object with the same identity and properties, which no provider performs.
  open func copy(with zone: NSZone? = nil) -> Any {
    let twin = duplicate()
    let original = state.withLock { $0 }
    twin.state.withLock { copy in
      copy = original
      copy.delivered = nil
    }
    return twin
  }

  /// Returns a new object of the same class with the same properties.
  func duplicate() -> CXAction { CXAction() }

  // MARK: The call layer

  /// Call and kind of the action, which the call layer checks when the action is requested.
  var request: ActionRequest { ActionRequest(call: nil, kind: .unsupported) }

  /// Time that the app may take to answer, in seconds.
  var timeoutInterval: TimeInterval { 5 }

  func answer(isFulfilled: Bool, date: Date? = nil) {
    let delivered = state.withLock { state -> ActionID? in
      guard let delivered = state.delivered, !state.isComplete else { return nil }
      state.isComplete = true
      return delivered
    }
    guard let delivered else { return }
    CallSystem.shared.answer(delivered, isFulfilled: isFulfilled, date: date)
  }

  func markDelivered(as id: ActionID) {
    state.withLock { state in
      // An app may ask for the same action again.
      if state.delivered != id { (state.isComplete, state.isTimedOut) = (false, false) }
      state.delivered = id
      state.timeoutDate = Date(timeIntervalSinceNow: timeoutInterval)
    }
  }

  func markComplete() {
    state.withLock { $0.isComplete = true }
  }

  func markTimedOut() {
    state.withLock { $0.isTimedOut = true }
  }

  /// True if the delegate is to perform the action that it has just received.
  ///
  /// An end action that timed out while the delegate was busy still counts: its call is over here,
  /// and has to end in the app too.
  var isToBePerformed: Bool {
    state.withLock { !$0.isComplete || $0.isTimedOut && self is CXEndCallAction }
  }
}
