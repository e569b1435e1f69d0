import AVFAudio
import CallKit
public import Foundation
import Synchronization

// SAFETY: what changes is behind mutexes; CallKit's objects may be used from any thread.
/// Reports conversations to the system and performs the user's requests, for apps that use
/// LiveCommunicationKit.
///
/// The rules are those of `CXProvider` and `CXCallController`, which do the work: which requests
/// are refused, which conversation holds another, and that the audio session is activated exactly
/// when a start, join or resume action was fulfilled.
///
/// Differs from Apple's: errors are CallKit's, `CXErrorCodeRequestTransactionError` and
/// `CXErrorCodeIncomingCallError`. Several handles of a start action make one call, to the first.
///
/// **Thread safety:** every member may be used from any thread.
public final class ConversationManager: @unchecked Sendable {
  /// Appearance of conversations, and limits on their number.
  public struct Configuration: Sendable {
    /// Sound file of the app to use as ringtone; nil for the system's.
    public var ringtoneName: String?
    /// Icon in PNG format, for notifications.
    public var iconTemplateImageData: Data?
    /// Maximum number of conversations at once; merged ones count as one.
    public var maximumConversationGroups: Int
    /// Maximum number of conversations merged into one.
    public var maximumConversationsPerConversationGroup: Int
    /// True to list conversations among recent calls.
    public var includesConversationInRecents: Bool
    /// True if the app can show video; without effect here.
    public var supportsVideo: Bool
    /// Kinds of handle that the app can call.
    public var supportedHandleTypes: Set<Handle.Kind>
    /// True if the system may translate conversations; without effect, as there is no such service.
    public var supportsAudioTranslation: Bool

    /// Creates a configuration.
    public init(
      ringtoneName: String?,
      iconTemplateImageData: Data?,
      maximumConversationGroups: Int,
      maximumConversationsPerConversationGroup: Int,
      includesConversationInRecents: Bool,
      supportsVideo: Bool,
      supportedHandleTypes: Set<Handle.Kind>,
      supportsAudioTranslation: Bool = false
    ) {
      self.ringtoneName = ringtoneName
      self.iconTemplateImageData = iconTemplateImageData
      self.maximumConversationGroups = maximumConversationGroups
      self.maximumConversationsPerConversationGroup = maximumConversationsPerConversationGroup
      self.includesConversationInRecents = includesConversationInRecents
      self.supportsVideo = supportsVideo
      self.supportedHandleTypes = supportedHandleTypes
      self.supportsAudioTranslation = supportsAudioTranslation
    }
  }

  private struct State {
    /// Conversations that are not over, oldest first.
    var conversations: [Conversation] = []
    /// Pending actions, by the identity of their CallKit actions.
    var actions: [UUID: ConversationAction] = [:]
  }

  /// Appearance of conversations, and limits on their number.
  public let configuration: Configuration
  private let provider: CXProvider
  private let controller = CXCallController()
  private let bridge = CallKitBridge()
  private let state = Mutex(State())
  private let listener = Mutex(Listener())

  private struct Listener {
    weak var delegate: (any ConversationManagerDelegate)?
    /// True if the manager began before it had a delegate; the next delegate is notified at once.
    var owesBegin = false
  }

  /// Creates a manager; keep it for as long as the app takes calls.
  public init(configuration: Configuration) {
    self.configuration = configuration
    provider = CXProvider(configuration: CXProviderConfiguration(configuration))
    bridge.manager = self
    provider.setDelegate(bridge, queue: .main)
    controller.callObserver.setDelegate(bridge, queue: .main)
  }

  /// The delegate that performs actions and is notified of changes, on the main queue; held weakly.
  ///
  /// It is notified first that the manager has begun, even if it was set later.
  public var delegate: (any ConversationManagerDelegate)? {
    get { listener.withLock { UncheckedTransfer(value: $0.delegate) }.value }
    set {
      let crossing = UncheckedTransfer(value: newValue)
      let owesBegin = listener.withLock { listener in
        listener.delegate = crossing.value
        guard listener.owesBegin, listener.delegate != nil else { return false }
        listener.owesBegin = false
        return true
      }
      if owesBegin { DispatchQueue.main.async { self.noteBegin() } }
    }
  }

  /// Conversations that are not over.
  public var conversations: [Conversation] { state.withLock { $0.conversations } }

  /// Actions that are neither fulfilled nor failed.
  public var pendingActions: [ConversationAction] {
    provider.pendingTransactions.flatMap(\.actions).compactMap { $0 as? CXCallAction }
      .filter { !$0.isComplete }.compactMap { action(for: $0) }
  }

  /// Returns the pending actions of a class on a conversation.
  public func pendingConversationActions(
    of conversationActionClass: ConversationAction.Type,
    for conversation: Conversation
  ) -> [ConversationAction] {
    pendingActions.filter { action in
      action.conversationUUID == conversation.uuid
        && (type(of: action) == conversationActionClass
          || conversationActionClass == ConversationAction.self)
    }
  }

  // MARK: Reports and requests

  /// Reports an incoming conversation to the system, which shows it to the user.
  ///
  /// - Throws: `CXErrorCodeIncomingCallError` if it is refused; then the app drops it.
  public func reportNewIncomingConversation(
    uuid: UUID,
    update: Conversation.Update
  ) async throws {
    let conversation = Conversation(
      uuid: uuid,
      isOutgoing: false,
      localMember: update.localMember
    )
    state.withLock { state in
      if !state.conversations.contains(where: { $0.uuid == uuid }) {
        state.conversations.append(conversation)
      }
    }
    do {
      try await provider.reportNewIncomingCall(with: uuid, update: CXCallUpdate(update))
    } catch {
      state.withLock { state in state.conversations.removeAll { $0 === conversation } }
      throw error
    }
  }

  /// Reports a change of a conversation to the system.
  public func reportConversationEvent(_ event: Conversation.Event, for conversation: Conversation) {
    let uuid = conversation.uuid
    switch event {
    case .conversationStartedConnecting(let date):
      if conversation.isOutgoing {
        provider.reportOutgoingCall(with: uuid, startedConnectingAt: date)
      }
      DispatchQueue.main.async { [self] in
        if conversation.state == .idle { move(conversation, to: .joining) }
      }
    case .conversationConnected(let date):
      // A call that came in is connected when it is joined.
      if conversation.isOutgoing { provider.reportOutgoingCall(with: uuid, connectedAt: date) }
    case .conversationEnded(let date, let reason):
      provider.reportCall(with: uuid, endedAt: date, reason: CXCallEndedReason(reason))
    case .conversationUpdated(let update):
      if let member = update.localMember { conversation.update(localMember: member) }
      provider.reportCall(with: uuid, updated: CXCallUpdate(update))
    }
  }

  /// Requests actions, all or none; they come back through the delegate.
  ///
  /// - Throws: `CXErrorCodeRequestTransactionError` if one of them is refused.
  public func perform(_ actions: [ConversationAction]) async throws {
    let starting = actions.compactMap { action in
      (action as? StartConversationAction).map {
        Conversation(uuid: $0.conversationUUID, isOutgoing: true)
      }
    }
    let added = state.withLock { state in
      state.actions = state.actions.filter { $0.value.isPending }
      for action in actions { state.actions[action.callAction.uuid] = action }
      let new = starting.filter { new in !state.conversations.contains { $0.uuid == new.uuid } }
      state.conversations += new
      return new
    }
    do {
      let transaction = CXTransaction(actions: actions.map(\.callAction))
      try await controller.request(transaction, startingWith: provider)
    } catch {
      state.withLock { state in
        for action in actions { state.actions[action.callAction.uuid] = nil }
        state.conversations.removeAll { old in added.contains { $0 === old } }
      }
      for action in actions { action.end(as: .failed(reason: "\(error)")) }
      throw error
    }
    for case let action as StartConversationAction in actions { showName(of: action) }
  }

  // A start action has no name, which the screen and the recents show.
  private func showName(of action: StartConversationAction) {
    let names = action.handles.filter { $0.displayName != $0.value }.map(\.displayName)
    guard !names.isEmpty else { return }
    let update = CXCallUpdate()
    update.localizedCallerName = action.handles.map(\.displayName).joined(separator: ", ")
    provider.reportCall(with: action.conversationUUID, updated: update)
  }

  /// Reports a push as a conversation, from a notification service; always throws here.
  public class func reportNewIncomingVoIPPushPayload(_ payload: [AnyHashable: Any]) async throws {
    try await CXProvider.reportNewIncomingVoIPPushPayload(payload)
  }

  /// Ends every conversation as failed, fails all actions, and invalidates the manager.
  public func invalidate() {
    provider.invalidate()
    forgetAll(because: "the manager was invalidated")
  }

  // MARK: What comes from CallKit

  func deliver(_ callAction: CXCallAction) {
    // One that is void by now, as its conversation is over, is nobody's any more.
    guard !callAction.isComplete else { return }
    guard let action = action(for: callAction), action.isPending, let delegate else {
      return callAction.fail()
    }
    action.begin()
    let next: Conversation.State? =
      switch action {
      case is EndConversationAction: .leaving
      case is JoinConversationAction: .joining
      default: nil
      }
    if let next, let conversation = conversation(action.conversationUUID) {
      move(conversation, to: next)
    }
    delegate.conversationManager(self, perform: action)
  }

  func noteTimeOut(of callAction: CXCallAction) {
    guard let action = action(for: callAction) else { return }
    action.end(as: .failed(reason: "it was not answered in time"))
    state.withLock { $0.actions[callAction.uuid] = nil }
    delegate?.conversationManager(self, timedOutPerforming: action)
  }

  func noteActivation(of session: AVAudioSession) {
    delegate?.conversationManager(self, didActivate: session)
  }

  func noteDeactivation(of session: AVAudioSession) {
    delegate?.conversationManager(self, didDeactivate: session)
  }

  func noteBegin() {
    let delegate = listener.withLock { listener in
      listener.owesBegin = listener.delegate == nil
      return UncheckedTransfer(value: listener.delegate)
    }
    delegate.value?.conversationManagerDidBegin(self)
  }

  func noteReset() {
    forgetAll(because: "the manager was reset")
    delegate?.conversationManagerDidReset(self)
  }

  func noteChange(of call: CXCall) {
    guard let conversation = conversation(call.uuid) else { return }
    if call.hasEnded {
      // What is not listed any more is over.
      let isNews = conversation.move(to: .left)
      let void = state.withLock { state in
        state.conversations.removeAll { $0 === conversation }
        let void = state.actions.filter { $0.value.conversationUUID == call.uuid }
        for uuid in void.keys { state.actions[uuid] = nil }
        return void.values
      }
      for action in void { action.end(as: .failed(reason: "the conversation is over")) }
      if isNews { delegate?.conversationManager(self, conversationChanged: conversation) }
    } else if conversation.state != .leaving {
      if call.isOnHold { move(conversation, to: .paused) }
      if !call.isOnHold, call.hasConnected { move(conversation, to: .joined) }
    }
  }

  private func conversation(_ uuid: UUID) -> Conversation? {
    state.withLock { state in state.conversations.first { $0.uuid == uuid } }
  }

  // The app's own object for an action, or a new one for what the system asks for.
  private func action(for callAction: CXCallAction) -> ConversationAction? {
    if let known = state.withLock({ $0.actions[callAction.uuid] }) { return known }
    let action = ConversationAction.matching(callAction)
    state.withLock { $0.actions[callAction.uuid] = action }
    return action
  }

  // On the main queue, as all that the delegate hears.
  private func move(_ conversation: Conversation, to state: Conversation.State) {
    guard conversation.move(to: state) else { return }
    delegate?.conversationManager(self, conversationChanged: conversation)
  }

  private func forgetAll(because reason: String) {
    let old = state.withLock { state in
      defer { state = State() }
      return state
    }
    for action in old.actions.values { action.end(as: .failed(reason: reason)) }
    for conversation in old.conversations { _ = conversation.move(to: .left) }
  }
}
