import ALSAAudio
import AVFAudio
import Foundation
import LiveCommunicationKit
import Testing

extension ProcessWideTests {
  /// LiveCommunicationKit's conversations by CallKit's rules, over the null device.
  @Suite(.timeLimit(.minutes(1))) struct ConversationTests {
    init() async {
      await ProcessWideTests.settle()
      AVAudioSession.sharedInstance().devices = .init(capture: .null, playback: .null)
    }

    /// Records the delegate's callbacks, and fulfills every action.
    private final class App: ConversationManagerDelegate, Sendable {
      typealias Log = (stream: AsyncStream<String>, continuation: AsyncStream<String>.Continuation)

      /// What conversations and actions do; and the audio session, whose time is its own.
      let conversations: Log = AsyncStream.makeStream()
      let session: Log = AsyncStream.makeStream()

      private func note(_ text: String) { conversations.continuation.yield(text) }

      func conversationManagerDidBegin(_ manager: ConversationManager) { note("begin") }

      func conversationManagerDidReset(_ manager: ConversationManager) { note("reset") }

      func conversationManager(
        _ manager: ConversationManager,
        conversationChanged conversation: Conversation
      ) { note("\(conversation.state)") }

      func conversationManager(
        _ manager: ConversationManager,
        perform action: ConversationAction
      ) {
        note("perform \(type(of: action))")
        switch action {
        case let action as StartConversationAction: action.fulfill(dateStarted: Date())
        case let action as JoinConversationAction: action.fulfill(dateConnected: Date())
        case let action as EndConversationAction: action.fulfill(dateEnded: Date())
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

      /// Waits until all of these have come, in this order but for what comes between.
      func expect(
        _ expected: String...,
        in log: any KeyPath<App, Log> & Sendable = \.conversations,
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

    private func manager(_ app: App) -> ConversationManager {
      let manager = ConversationManager(
        configuration: .init(
          ringtoneName: nil,
          iconTemplateImageData: nil,
          maximumConversationGroups: 1,
          maximumConversationsPerConversationGroup: 1,
          includesConversationInRecents: false,
          supportsVideo: false,
          supportedHandleTypes: [.generic]
        )
      )
      manager.delegate = app
      return manager
    }

    private let bob = Handle(type: .generic, value: "sip:bob@example.org", displayName: "Bob")

    @Test func anIncomingConversationIsJoinedPausedAndLeft() async throws {
      let app = App()
      let manager = manager(app)
      let uuid = UUID()
      try await manager.reportNewIncomingConversation(uuid: uuid, update: .init(members: [bob]))
      let conversation = try #require(manager.conversations.first)
      #expect(conversation.uuid == uuid && conversation.state == .idle)
      let join = JoinConversationAction(conversationUUID: uuid)
      try await manager.perform([join])
      await app.expect("begin", "joining", "perform JoinConversationAction", "joined")
      await app.expect("didActivate", in: \.session)
      #expect(join.state == .complete)
      try await manager.perform([PauseConversationAction(conversationUUID: uuid, isPaused: true)])
      await app.expect("perform PauseConversationAction", "paused")
      try await manager.perform([PauseConversationAction(conversationUUID: uuid, isPaused: false)])
      await app.expect("perform PauseConversationAction", "joined")
      try await manager.perform([EndConversationAction(conversationUUID: uuid)])
      await app.expect("leaving", "perform EndConversationAction", "left")
      #expect(conversation.state == .left && manager.conversations.isEmpty)
      manager.invalidate()
    }

    @Test func anOutgoingConversationIsConnectedAndEndedByTheFarSide() async throws {
      let app = App()
      let manager = manager(app)
      let start = StartConversationAction(
        conversationUUID: UUID(),
        handles: [bob],
        isVideo: false
      )
      try await manager.perform([start])
      await app.expect("begin", "perform StartConversationAction")
      await app.expect("didActivate", in: \.session)
      let conversation = try #require(manager.conversations.first)
      #expect(conversation.state == .joining)
      manager.reportConversationEvent(.conversationStartedConnecting(Date()), for: conversation)
      manager.reportConversationEvent(.conversationConnected(Date()), for: conversation)
      await app.expect("joined")
      manager.reportConversationEvent(.conversationEnded(Date(), .remoteEnded), for: conversation)
      await app.expect("left")
      manager.invalidate()
    }

    @Test func whatCallKitRefusesThrowsAndLeavesNothing() async throws {
      let app = App()
      let manager = manager(app)
      let uuid = UUID()
      await #expect(throws: (any Error).self) {
        try await manager.perform([EndConversationAction(conversationUUID: uuid)])
      }
      try await manager.reportNewIncomingConversation(uuid: uuid, update: .init(members: [bob]))
      await #expect(throws: (any Error).self) {
        try await manager.reportNewIncomingConversation(uuid: uuid, update: .init(members: [bob]))
      }
      #expect(manager.conversations.map(\.uuid) == [uuid] && manager.pendingActions.isEmpty)
      let conversation = try #require(manager.conversations.first)
      manager.invalidate()
      #expect(manager.conversations.isEmpty && conversation.state == .left)
    }
  }
}
