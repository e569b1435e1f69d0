import CallStore
import Foundation
@testable import LiveCommunicationKit
import Synchronization
import Testing

/// Recent conversations, as an app reads them.
struct ConversationHistoryTests {
  typealias Recent = ConversationHistoryManager.RecentConversation

  private func withStore(
    _ body: (CallStore, ConversationHistoryManager) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("history-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }  // Nobody looks there again.
    try await body(try CallStore(in: folder), ConversationHistoryManager(in: folder))
  }

  private func call(_ result: String, connected: Double? = nil, isOutgoing: Bool) -> RecentCall {
    RecentCall(
      call: UUID(),
      app: "App",
      handleKind: 2,
      handle: "+49 30 1",
      name: "Ada",
      isOutgoing: isOutgoing,
      started: Date(timeIntervalSince1970: 1_000),
      connected: connected.map { Date(timeIntervalSince1970: $0) },
      ended: Date(timeIntervalSince1970: 1_060),
      result: result,
      canBeCalledBack: true
    )
  }

  @Test func conversationHasTheFactsOfTheCall() async throws {
    try await withStore { store, history in
      try store.add(call("talked", connected: 1_010, isOutgoing: true))
      try store.add(call("missed", isOutgoing: false))
      let found = try await history.recentConversations(matching: #Predicate { _ in true })
      #expect(found.map(\.status) == [.missed, .connected], "the newest is first")
      #expect(found.map(\.direction) == [.incoming, .outgoing])
      #expect(found.map(\.duration) == [0, 50])
      #expect(found.map(\.date) == [1_000, 1_000].map { Date(timeIntervalSince1970: $0) })
      let ada = Handle(type: .phoneNumber, value: "+49 30 1", displayName: "Ada")
      #expect(found.allSatisfy { $0.handles == [ada] && !$0.isRead })
      let coded = try JSONDecoder().decode([Recent].self, from: JSONEncoder().encode(found))
      #expect(coded == found)
    }
  }

  @Test(arguments: [
    ("talked", Recent.Status.connected), ("missed", .missed), ("cancelled", .cancelled),
    ("answeredElsewhere", .answeredElsewhere), ("declined", .unknown), ("unanswered", .unknown),
    ("failed", .unknown), ("declinedElsewhere", .unknown), ("of a later release", .unknown),
  ])
  func resultOfACallIsAStatus(result: String, status: Recent.Status) async throws {
    try await withStore { store, history in
      try store.add(call(result, isOutgoing: false))
      let found = try await history.recentConversations(matching: #Predicate { _ in true })
      #expect(found.map(\.status) == [status])
    }
  }

  @Test func predicateChooses() async throws {
    try await withStore { store, history in
      for isOutgoing in [true, false, true] {
        try store.add(call("talked", connected: 1_001, isOutgoing: isOutgoing))
      }
      let found = try await history.recentConversations(matching: #Predicate { $0.duration > 59 })
      #expect(found.isEmpty)
      let outgoing = Recent.Direction.outgoing
      let placed = try await history.recentConversations(
        matching: #Predicate { $0.direction == outgoing }
      )
      #expect(placed.count == 2)
    }
  }

  @Test func conversationIsMarkedAsRead() async throws {
    try await withStore { store, history in
      let calls = [call("missed", isOutgoing: false), call("missed", isOutgoing: false)]
      for call in calls { try store.add(call) }
      let unread: Predicate<Recent> = #Predicate { !$0.isRead }
      let found = try await history.recentConversations(matching: unread)
      #expect(found.count == 2)
      try await history.markConversationAsRead(found[0])
      #expect(try await history.recentConversations(matching: unread).map(\.id) == [calls[0].call])
      try store.clearRecents()
      try await history.markConversationsAsRead(found)
      #expect(try await history.recentConversations(matching: unread).isEmpty)
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func appIsToldOfChanges() async throws {
    try await withStore { store, history in
      let messages = AsyncStream<Void>.makeStream()
      let token = NotificationCenter.default.addObserver(
        of: history,
        for: .conversationHistoryDidUpdateMessage
      ) { _ in messages.continuation.yield() }
      let names = Mutex(0)
      let observer = NotificationCenter.default.addObserver(
        forName: ConversationHistoryManager.ConversationHistoryDidUpdate.name,
        object: history,
        queue: nil
      ) { _ in names.withLock { $0 += 1 } }
      try store.add(call("missed", isOutgoing: false))
      var told = messages.stream.makeAsyncIterator()
      _ = await told.next()
      // Other tests change their stores at the same time.
      #expect(names.withLock { $0 } > 0)
      NotificationCenter.default.removeObserver(token)
      NotificationCenter.default.removeObserver(observer)
    }
  }
}
