import CallKit
import CallStore
public import Foundation

/// The user's recent conversations, those of other programs included.
///
/// On iOS only the default dialer app may read them; here every program of the user may. The list
/// is the one that `sidetone recents` shows, with the last 1,000 calls.
///
/// **Thread safety:** every member may be used from any thread.
public final class ConversationHistoryManager: Sendable {
  /// The history of the user who runs the program.
  public static let sharedInstance = ConversationHistoryManager()

  private let folder: URL?

  /// Creates the history of a store's folder, by default the user's.
  init(in folder: URL? = nil) {
    self.folder = folder
    _ = NotificationCenter.default.addObserver(
      forName: CallStore.recentsDidChange,
      object: nil,
      queue: nil
    ) { [weak self] _ in
      guard let self else { return }
      // On Linux neither kind of observer hears of the other kind of message.
      NotificationCenter.default.post(ConversationHistoryDidUpdate(), subject: self)
      NotificationCenter.default.post(name: ConversationHistoryDidUpdate.name, object: self)
    }
  }

  private func store() throws -> CallStore {
    try CallStore(in: folder ?? CallStore.defaultFolder)
  }

  /// Returns the recent conversations that match a predicate, newest first.
  ///
  /// - Throws: an error of the user's store, or of the predicate.
  public func recentConversations(
    matching request: Predicate<RecentConversation>
  ) async throws -> [RecentConversation] {
    try store().recents().map { RecentConversation($0) }.filter { try request.evaluate($0) }
  }

  /// Marks a conversation as read.
  ///
  /// - Throws: an error of the user's store.
  public func markConversationAsRead(_ recentConversation: RecentConversation) async throws {
    try await markConversationsAsRead([recentConversation])
  }

  /// Marks conversations as read; those that are not in the list any more are ignored.
  ///
  /// - Throws: an error of the user's store.
  public func markConversationsAsRead(
    _ recentConversations: [RecentConversation]
  ) async throws {
    try store().markAsRead(recentConversations.map(\.id))
  }
}

extension ConversationHistoryManager {
  /// A conversation that is over.
  public struct RecentConversation: Codable, Hashable, Identifiable, Sendable {
    /// The side that began a conversation.
    public enum Direction: Codable, Hashable, Sendable {
      /// The remote party began it.
      case incoming
      /// The user began it.
      case outgoing
    }

    /// Outcome of a conversation.
    public enum Status: Codable, Hashable, Sendable {
      /// The outcome is unknown.
      case unknown
      /// Both sides could talk.
      case connected
      /// An incoming conversation was not answered.
      case missed
      /// Another device of the user's answered it.
      case answeredElsewhere
      /// An outgoing conversation was given up before the remote party answered.
      case cancelled
    }

    /// Identity of the conversation.
    public let id: UUID
    /// Addresses of the remote party.
    public let handles: [Handle]
    /// Time at which it appeared, or at which the user began it.
    public let date: Date
    /// Time for which both sides could talk, in seconds; 0 if they never could.
    public let duration: TimeInterval
    /// Outcome of the conversation.
    public let status: Status
    /// The side that began it.
    public let direction: Direction
    /// True once it was marked as read.
    public let isRead: Bool

    init(_ call: RecentCall) {
      id = call.call
      let kind = CXHandle.HandleType(rawValue: call.handleKind).map { Handle.Kind($0) }
      handles =
        call.handle.isEmpty
        ? [] : [Handle(type: kind ?? .generic, value: call.handle, displayName: call.name)]
      date = call.started
      duration = call.connected.map { max(0, call.ended.timeIntervalSince($0)) } ?? 0
      status = Status(ofResult: call.result)
      direction = call.isOutgoing ? .outgoing : .incoming
      isRead = call.isRead
    }
  }

  /// A message that the list of recent conversations has changed in this program.
  public struct ConversationHistoryDidUpdate: NotificationCenter.AsyncMessage {
    /// The history whose list has changed.
    public typealias Subject = ConversationHistoryManager

    /// Name under which observers of notifications receive the message.
    public static var name: Notification.Name {
      Notification.Name("ConversationHistoryManagerConversationHistoryDidUpdate")
    }

    /// Creates the message.
    public init() {}

    /// Returns the message that a notification stands for.
    public static func makeMessage(_ notification: Notification) -> Self? {
      notification.name == name ? Self() : nil
    }
  }
}

extension ConversationHistoryManager.RecentConversation.Status {
  // The results of `CallRecord`. Who declines a call has not missed it; Apple has no word for it.
  fileprivate init(ofResult result: String) {
    switch result {
    case "talked": self = .connected
    case "missed": self = .missed
    case "answeredElsewhere": self = .answeredElsewhere
    case "cancelled": self = .cancelled
    default: self = .unknown
    }
  }
}

extension NotificationCenter.MessageIdentifier
where
  Self == NotificationCenter.BaseMessageIdentifier<
    ConversationHistoryManager.ConversationHistoryDidUpdate
  >
{
  /// Identifies messages that the list of recent conversations has changed.
  public static var conversationHistoryDidUpdateMessage: Self {
    // It is the history that sends them.
    _ = ConversationHistoryManager.sharedInstance
    return Self()
  }
}
