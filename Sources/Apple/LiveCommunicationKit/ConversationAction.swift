import CallKit
public import Foundation
import Synchronization

// SAFETY: the state is behind a mutex; the CallKit action may be used from any thread.
/// A change of a conversation that the user, the system or the app asks for.
///
/// The app gives actions to `ConversationManager.perform`; they come back through the delegate,
/// where each is to be fulfilled or failed once. Further answers are ignored.
///
/// **Thread safety:** every member may be used from any thread.
public class ConversationAction: @unchecked Sendable {
  /// Progress of an action.
  public enum State: Codable, Hashable, Sendable {
    /// Created, but not given to the delegate yet.
    case idle
    /// Being performed by the delegate.
    case running
    /// Fulfilled.
    case complete
    /// Failed, or not answered in time.
    case failed(reason: String)
  }

  /// CallKit's equivalent of the action.
  let callAction: CXCallAction
  /// Identity of the conversation to change.
  public let conversationUUID: UUID
  private let ownDeadline: Date?
  private let progress = Mutex(State.idle)

  /// Creates an action without a meaning of its own; subclasses define one.
  public init(
    conversationUUID: UUID,
    timeoutDate: Date = Date(timeIntervalSinceNow: 30)
  ) {
    callAction = CXCallAction(call: conversationUUID)
    self.conversationUUID = conversationUUID
    ownDeadline = timeoutDate
  }

  init(_ callAction: CXCallAction) {
    self.callAction = callAction
    conversationUUID = callAction.callUUID
    ownDeadline = nil
  }

  /// Deadline for the answer: CallKit's, except in an action created with a deadline of its own.
  public final var timeoutDate: Date { ownDeadline ?? callAction.timeoutDate }

  /// Identity of the action.
  public final var uuid: UUID { callAction.uuid }

  /// Current progress.
  public final var state: State { progress.withLock { $0 } }

  /// True until the action is fulfilled or failed.
  final var isPending: Bool { [.idle, .running].contains(state) }

  /// Reports that the action was performed.
  public final func fulfill() { complete { $0.fulfill() } }

  /// Reports that the action could not be performed.
  public final func fail() {
    if end(as: .failed(reason: "the app could not perform it")) { callAction.fail() }
  }

  /// Fulfills CallKit's action by `answer`, once; further answers are ignored.
  final func complete(_ answer: (CXCallAction) -> Void) {
    if end(as: .complete) { answer(callAction) }
  }

  /// Notes that the delegate now performs the action.
  final func begin() {
    progress.withLock { if $0 == .idle { $0 = .running } }
  }

  /// Sets the outcome.
  ///
  /// - Returns: false if the action has an outcome already.
  @discardableResult
  final func end(as outcome: State) -> Bool {
    progress.withLock { state in
      guard state == .idle || state == .running else { return false }
      state = outcome
      return true
    }
  }
}
