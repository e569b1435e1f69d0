import ALSAAudio
import AVFAudio
import CallKit
import CallSystemFixture
import Foundation
import LiveCommunicationKit
import Testing

/// Conversations by CallKit's rules, over the null device.
@Suite(.serialized, .ownsCallSystem, .timeLimit(.minutes(5)))
struct ConversationManagerTests {
  private let bob = Handle(type: .generic, value: "sip:bob@example.org", displayName: "Bob")
  private let carol = Handle(type: .generic, value: "sip:carol@example.org", displayName: "Carol")

  init() async {
    await CallSystemOwnership.settle()
    AVAudioSession.sharedInstance().devices = .init(capture: .null, playback: .null)
  }

  private func manager(
    _ app: RecordingApp?,
    groups: Int = 1,
    perGroup: Int = 1
  ) -> ConversationManager {
    let manager = ConversationManager(
      configuration: .init(
        ringtoneName: nil,
        iconTemplateImageData: nil,
        maximumConversationGroups: groups,
        maximumConversationsPerConversationGroup: perGroup,
        includesConversationInRecents: false,
        supportsVideo: false,
        supportedHandleTypes: [.generic]
      )
    )
    manager.delegate = app
    return manager
  }

  /// An incoming conversation that was joined.
  private func joined(
    _ manager: ConversationManager,
    _ app: RecordingApp,
    with member: Handle,
    _ capabilities: Conversation.Capabilities? = nil
  ) async throws -> Conversation {
    let uuid = UUID()
    let update = Conversation.Update(members: [member], capabilities: capabilities)
    try await manager.reportNewIncomingConversation(uuid: uuid, update: update)
    try await manager.perform([JoinConversationAction(conversationUUID: uuid)])
    await app.expect("perform JoinConversationAction", "joined")
    return try #require(manager.conversations.first { $0.uuid == uuid })
  }

  /// An incoming conversation, and the action that joins it, which the app has been given.
  private func joining(
    _ manager: ConversationManager,
    _ app: RecordingApp
  ) async throws -> (Conversation, JoinConversationAction) {
    let uuid = UUID()
    try await manager.reportNewIncomingConversation(uuid: uuid, update: .init(members: [bob]))
    let conversation = try #require(manager.conversations.first)
    let join = JoinConversationAction(conversationUUID: uuid)
    try await manager.perform([join])
    await app.expect("perform JoinConversationAction")
    return (conversation, join)
  }

  // MARK: Several managers

  @Test func conversationStartsWithTheManagerThatWasAskedUnderItsName() async throws {
    let app = RecordingApp()
    let (first, second) = (manager(app), manager(RecordingApp()))
    let uuid = UUID()
    try await first.perform([
      StartConversationAction(conversationUUID: uuid, handles: [bob], isVideo: false)
    ])
    await app.expect("perform StartConversationAction")
    #expect(second.conversations.isEmpty)
    let other = CXProvider(configuration: CXProviderConfiguration(localizedName: "other"))
    #expect(other.displayName(of: uuid) == "Bob")
    for manager in [first, second] { manager.invalidate() }
    other.invalidate()
  }

  // MARK: The life of a conversation

  @Test func anIncomingConversationIsJoinedPausedAndLeft() async throws {
    let app = RecordingApp()
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
    await app.expect("didDeactivate", in: \.session)
    try await manager.perform([PauseConversationAction(conversationUUID: uuid, isPaused: false)])
    await app.expect("perform PauseConversationAction", "joined")
    await app.expect("didActivate", in: \.session)
    try await manager.perform([EndConversationAction(conversationUUID: uuid)])
    await app.expect("leaving", "perform EndConversationAction", "left")
    #expect(conversation.state == .left && manager.conversations.isEmpty)
    manager.invalidate()
  }

  @Test func anOutgoingConversationIsConnectedAndEndedByTheFarSide() async throws {
    let app = RecordingApp()
    let manager = manager(app)
    let start = StartConversationAction(conversationUUID: UUID(), handles: [bob], isVideo: false)
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

  @Test func aConversationThatRingsMayBeBeingConnected() async throws {
    let app = RecordingApp()
    let manager = manager(app)
    try await manager.reportNewIncomingConversation(uuid: UUID(), update: .init(members: [bob]))
    let conversation = try #require(manager.conversations.first)
    manager.reportConversationEvent(.conversationStartedConnecting(Date()), for: conversation)
    await app.expect("joining")
    manager.reportConversationEvent(.conversationEnded(Date(), .unanswered), for: conversation)
    await app.expect("left")
    #expect(manager.conversations.isEmpty)
    manager.invalidate()
  }

  @Test func aConversationThatIsNotStartedIsLeft() async throws {
    let app = RecordingApp(.fails)
    let manager = manager(app)
    let start = StartConversationAction(conversationUUID: UUID(), handles: [bob], isVideo: false)
    try await manager.perform([start])
    await app.expect("perform StartConversationAction", "left")
    #expect(start.state == .failed(reason: "the app could not perform it"))
    #expect(manager.conversations.isEmpty && manager.pendingActions.isEmpty)
    manager.invalidate()
  }

  // MARK: What is asked of the app

  @Test func muteAndTonesReachTheAppAsTheyWereAskedFor() async throws {
    let app = RecordingApp()
    let manager = manager(app)
    let conversation = try await joined(manager, app, with: bob, [.playingTones])
    let mute = MuteConversationAction(conversationUUID: conversation.uuid, isMuted: true)
    let tones = PlayToneAction(conversationUUID: conversation.uuid, digits: "1#", tone: .single)
    try await manager.perform([mute])
    await app.expect("perform MuteConversationAction")
    try await manager.perform([tones])
    await app.expect("perform PlayToneAction")
    // The app's own objects come back to it.
    #expect(app.actions.contains { $0 === mute } && app.actions.contains { $0 === tones })
    #expect(mute.state == .complete && tones.state == .complete)
    manager.invalidate()
  }

  @Test func aConversationThatCannotBePausedIsNot() async throws {
    let app = RecordingApp()
    let manager = manager(app)
    let conversation = try await joined(manager, app, with: bob, [.playingTones])
    let pause = PauseConversationAction(conversationUUID: conversation.uuid, isPaused: true)
    await #expect(throws: CXErrorCodeRequestTransactionError.self) {
      try await manager.perform([pause])
    }
    guard case .failed = pause.state else {
      Issue.record("\(pause.state)")
      return
    }
    #expect(conversation.state == .joined)
    // Nothing stands in the way once the app says that it can be.
    let update = Conversation.Update(capabilities: [.pausing])
    manager.reportConversationEvent(.conversationUpdated(update), for: conversation)
    let again = PauseConversationAction(conversationUUID: conversation.uuid, isPaused: true)
    try await manager.perform([again])
    await app.expect("perform PauseConversationAction", "paused")
    manager.invalidate()
  }

  @Test func twoConversationsAreMergedAndTakenApart() async throws {
    let app = RecordingApp()
    let manager = manager(app, groups: 2, perGroup: 2)
    let all: Conversation.Capabilities = [.pausing, .merging, .unmerging]
    let first = try await joined(manager, app, with: bob, all)
    let second = try await joined(manager, app, with: carol, all)
    #expect(first.state == .paused, "one of them is heard")
    let merge = MergeConversationAction(
      conversationUUID: second.uuid,
      conversationUUIDToMergeWith: first.uuid
    )
    try await manager.perform([merge])
    await app.expect("perform MergeConversationAction")
    #expect(merge.state == .complete && manager.conversations.count == 2)
    let unmerge = UnmergeConversationAction(conversationUUID: second.uuid)
    try await manager.perform([unmerge])
    await app.expect("perform UnmergeConversationAction")
    #expect(unmerge.state == .complete)
    manager.invalidate()
  }

  @Test func actionsWaitUntilTheAppAnswers() async throws {
    let app = RecordingApp(.never)
    let manager = manager(app)
    let (conversation, join) = try await joining(manager, app)
    #expect(join.state == .running && manager.pendingActions.map(\.uuid) == [join.uuid])
    func pending(_ kind: ConversationAction.Type) -> Int {
      manager.pendingConversationActions(of: kind, for: conversation).count
    }
    #expect(pending(JoinConversationAction.self) == 1 && pending(ConversationAction.self) == 1)
    #expect(pending(EndConversationAction.self) == 0)
    join.fulfill(dateConnected: Date())
    await app.expect("joined")
    #expect(manager.pendingActions.isEmpty && pending(JoinConversationAction.self) == 0)
    manager.invalidate()
  }

  // MARK: Beginning and end of a manager

  @Test func aDelegateThatComesLaterHearsThatTheManagerBegan() async throws {
    let manager = manager(nil)
    // What was asked for without one has been refused by then.
    let uuid = UUID()
    try await manager.reportNewIncomingConversation(uuid: uuid, update: .init(members: [bob]))
    let app = RecordingApp()
    manager.delegate = app
    await app.expect("begin")
    try await manager.perform([JoinConversationAction(conversationUUID: uuid)])
    await app.expect("joined")
    manager.invalidate()
  }

  @Test func whatCallKitRefusesThrowsAndLeavesNothing() async throws {
    let app = RecordingApp()
    let manager = manager(app)
    let uuid = UUID()
    await #expect(throws: CXErrorCodeRequestTransactionError.self) {
      try await manager.perform([EndConversationAction(conversationUUID: uuid)])
    }
    try await manager.reportNewIncomingConversation(uuid: uuid, update: .init(members: [bob]))
    await #expect(throws: CXErrorCodeIncomingCallError.self) {
      try await manager.reportNewIncomingConversation(uuid: uuid, update: .init(members: [bob]))
    }
    // There is room for one alone.
    let start = StartConversationAction(conversationUUID: UUID(), handles: [bob], isVideo: false)
    await #expect(throws: (any Error).self) { try await manager.perform([start]) }
    #expect(manager.conversations.map(\.uuid) == [uuid] && manager.pendingActions.isEmpty)
    manager.invalidate()
  }

  @Test func aManagerThatIsInvalidatedEndsEverything() async throws {
    let app = RecordingApp(.never)
    let manager = manager(app)
    let (conversation, join) = try await joining(manager, app)
    manager.invalidate()
    #expect(manager.conversations.isEmpty && conversation.state == .left)
    guard case .failed = join.state else {
      Issue.record("\(join.state)")
      return
    }
    await #expect(throws: (any Error).self) {
      try await manager.reportNewIncomingConversation(uuid: UUID(), update: .init(members: [bob]))
    }
    #expect(manager.conversations.isEmpty)
  }

  /// The end of a conversation fails its pending actions, which can no longer be answered.
  @Test func theEndOfAConversationFailsItsActions() async throws {
    let app = RecordingApp(.never)
    let manager = manager(app)
    let (conversation, join) = try await joining(manager, app)
    manager.reportConversationEvent(.conversationEnded(Date(), .remoteEnded), for: conversation)
    await app.expect("left")
    #expect(join.state == .failed(reason: "the conversation is over"))
    #expect(manager.pendingActions.isEmpty)
    manager.invalidate()
  }

  @Test func pushesOfANotificationServiceAreRefused() async {
    await #expect(throws: (any Error).self) {
      try await ConversationManager.reportNewIncomingVoIPPushPayload([:])
    }
  }
}
