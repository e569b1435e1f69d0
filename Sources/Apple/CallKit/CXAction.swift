import CallState
public import Foundation
import Synchronization

/// Something that the user or the system asks the app to do with a call.
///
/// The app requests actions in a `CXTransaction`; they come back through the provider's delegate,
/// where each must be fulfilled or failed exactly once. Further answers are ignored.
///
/// **Thread safety:** an action may be answered from any thread, inside `perform` or long after.
///
/// Differs from Apple's: answering twice or too late is ignored there only by good fortune, here by
/// rule.
open class CXAction: NSObject, NSCopying, NSSecureCoding {
  private struct State: Sendable {
    var uuid = UUID()
    var timeoutDate = Date()
    var isComplete = false
    var isTimedOut = false
    var delivered: ActionID?
  }

  private let state = Mutex(State())

  /// An action of no kind, which no provider performs.
  public override init() {
    super.init()
    state.withLock { $0.timeoutDate = Date(timeIntervalSinceNow: timeoutInterval) }
  }

  /// An action from an archive; nil if it holds none.
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

  /// The action's identity, which survives copying and archiving.
  open var uuid: UUID { state.withLock { $0.uuid } }

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

  /// A new object with the same identity and properties, which no provider performs.
  open func copy(with zone: NSZone? = nil) -> Any {
    let twin = duplicate()
    let original = state.withLock { $0 }
    twin.state.withLock { copy in
      copy = original
      copy.delivered = nil
    }
    return twin
  }

  /// A new object of the same kind with the same properties.
  func duplicate() -> CXAction { CXAction() }

  // MARK: The call layer

  /// What the call layer checks when the action is requested.
  var request: ActionRequest { ActionRequest(call: nil, kind: .unsupported) }

  /// How long the app may take, in seconds.
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

  /// Whether the delegate is to perform it, now that it has come there.
  ///
  /// A call that has ended here while the delegate was busy still has to end there.
  var isToBePerformed: Bool {
    state.withLock { !$0.isComplete || $0.isTimedOut && self is CXEndCallAction }
  }
}
