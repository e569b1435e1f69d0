import AVFAudio
import Foundation
import LiveCommunicationKit
import Synchronization
import Testing

/// An app that notes its delegate's callbacks, and answers actions.
final class RecordingApp: ConversationManagerDelegate, Sendable {
  typealias Log = (stream: AsyncStream<String>, continuation: AsyncStream<String>.Continuation)

  /// Its way of answering actions.
  enum Answers { case fulfills, fails, never }

  /// Callbacks of conversations and actions; apart, those of the audio session.
  let conversations: Log = AsyncStream.makeStream()
  let session: Log = AsyncStream.makeStream()
  private let answers: Answers
  private let performed = Mutex<[ConversationAction]>([])

  init(_ answers: Answers = .fulfills) { self.answers = answers }

  /// The actions that came, in order.
  var actions: [ConversationAction] { performed.withLock { $0 } }

  private func note(_ text: String) { conversations.continuation.yield(text) }

  func conversationManagerDidBegin(_ manager: ConversationManager) { note("begin") }

  func conversationManagerDidReset(_ manager: ConversationManager) { note("reset") }

  func conversationManager(
    _ manager: ConversationManager,
    conversationChanged conversation: Conversation
  ) { note("\(conversation.state)") }

  func conversationManager(_ manager: ConversationManager, perform action: ConversationAction) {
    // Noted last: what waits for it looks at the action's state.
    defer { note("perform \(type(of: action))") }
    performed.withLock { $0.append(action) }
    switch (answers, action) {
    case (.never, _): break
    case (.fails, _): action.fail()
    case (_, let action as StartConversationAction): action.fulfill(dateStarted: Date())
    case (_, let action as JoinConversationAction): action.fulfill(dateConnected: Date())
    case (_, let action as EndConversationAction): action.fulfill(dateEnded: Date())
    default: action.fulfill()
    }
  }

  func conversationManager(
    _ manager: ConversationManager,
    timedOutPerforming action: ConversationAction
  ) { note("timed out") }

  func conversationManager(
    _ manager: ConversationManager,
    didActivate audioSession: AVAudioSession
  ) { session.continuation.yield("didActivate") }

  func conversationManager(
    _ manager: ConversationManager,
    didDeactivate audioSession: AVAudioSession
  ) { session.continuation.yield("didDeactivate") }

  /// Waits until all of these callbacks have come, in this order, with any others between them.
  func expect(
    _ expected: String...,
    in log: any KeyPath<RecordingApp, Log> & Sendable = \.conversations,
    location: SourceLocation = #_sourceLocation
  ) async {
    var rest = expected[...]
    for await line in self[keyPath: log].stream {
      if line == rest.first { rest = rest.dropFirst() }
      if rest.isEmpty { return }
    }
    Issue.record("\(rest) did not come", sourceLocation: location)
  }
}
