import CallKit
public import Foundation
import Synchronization

// SAFETY: the state is behind a mutex; the CallKit action may be used from any thread.
/// Something that the user, the system or the app wants to do with a conversation.
///
/// The app gives actions to `ConversationManager.perform`; they come back through the delegate,
/// where each is to be fulfilled or failed once. Further answers are ignored.
///
/// **Thread safety:** every member may be used from any thread.
public class ConversationAction: @unchecked Sendable {
  /// How far an action is.
  public enum State: Codable, Hashable, Sendable {
    /// It was made, and not given to the delegate yet.
    case idle
    /// The delegate performs it.
    case running
    /// It was fulfilled.
    case complete
    /// It was failed, or not answered in time.
    case failed(reason: String)
  }

  /// The same as CallKit has it.
  let callAction: CXCallAction
  /// The conversation that it is about.
  public let conversationUUID: UUID
  /// Until when it is to be answered.
  public let timeoutDate: Date
  private let progress = Mutex(State.idle)

  /// An action that no conversation knows how to perform; its subclasses do.
  public convenience init(
    conversationUUID: UUID,
    timeoutDate: Date = Date(timeIntervalSinceNow: 30)
  ) {
    self.init(CXCallAction(call: conversationUUID), timeoutDate: timeoutDate)
  }

  init(_ callAction: CXCallAction, timeoutDate: Date = Date(timeIntervalSinceNow: 30)) {
    self.callAction = callAction
    conversationUUID = callAction.callUUID
    self.timeoutDate = timeoutDate
  }

  /// The action's identity.
  public final var uuid: UUID { callAction.uuid }

  /// How far it is.
  public final var state: State { progress.withLock { $0 } }

  /// Whether it waits for its answer.
  final var isPending: Bool { [.idle, .running].contains(state) }

  /// The action is done.
  public final func fulfill() { complete { $0.fulfill() } }

  /// The action could not be done.
  public final func fail() {
    if end(as: .failed(reason: "the app could not perform it")) { callAction.fail() }
  }

  /// Answers CallKit's action, the first time.
  final func complete(_ answer: (CXCallAction) -> Void) {
    if end(as: .complete) { answer(callAction) }
  }

  /// The delegate gets it now.
  final func begin() {
    progress.withLock { if $0 == .idle { $0 = .running } }
  }

  /// Notes how it came out; false if that is known already.
  @discardableResult
  final func end(as outcome: State) -> Bool {
    progress.withLock { state in
      guard state == .idle || state == .running else { return false }
      state = outcome
      return true
    }
  }
}
