package import Foundation
import GRDB

/// A call that is over, in the list of recent calls.
package struct RecentCall: Equatable, Sendable {
  /// Identity of the call.
  package var call: UUID
  /// Name of the call's app.
  package var app: String
  /// Kind of the handle, with Apple's numbers.
  package var handleKind: Int
  /// Address of the remote party.
  package var handle: String
  /// Name to show.
  package var name: String
  /// True if this side placed it.
  package var isOutgoing: Bool
  /// True if the call had video.
  package var hasVideo: Bool
  /// Time at which the call appeared, or its invitation was sent.
  package var started: Date
  /// Time at which both sides could talk; nil if never.
  package var connected: Date?
  /// Time at which the call ended.
  package var ended: Date
  /// Result of the call: `talked`, `missed`, `declined`, `unanswered`, `cancelled`, `failed`,
  /// `answeredElsewhere` or `declinedElsewhere`.
  package var result: String
  /// The result in words, such as `answered elsewhere`.
  package var resultInWords: String {
    result.reduce(into: "") { words, letter in
      words += letter.isUppercase ? " " + letter.lowercased() : String(letter)
    }
  }
  /// True if the app could dial the handle.
  package var canBeCalledBack: Bool
  /// True once it was marked as read.
  package var isRead = false

  /// Creates a call with the given facts.
  package init(
    call: UUID,
    app: String,
    handleKind: Int,
    handle: String,
    name: String,
    isOutgoing: Bool,
    hasVideo: Bool = false,
    started: Date,
    connected: Date?,
    ended: Date,
    result: String,
    canBeCalledBack: Bool
  ) {
    self.call = call
    self.app = app
    self.handleKind = handleKind
    self.handle = handle
    self.name = name
    self.isOutgoing = isOutgoing
    self.hasVideo = hasVideo
    self.started = started
    self.connected = connected
    self.ended = ended
    self.result = result
    self.canBeCalledBack = canBeCalledBack
  }
}

extension CallStore {
  /// Posted after this program has changed the list of recent calls, on the thread that did.
  package static let recentsDidChange = Notification.Name("CallStoreRecentsDidChange")

  /// Maximum number of recent calls that are kept.
  package static let recentLimit = 1_000

  /// Adds a call to the list, and drops the oldest beyond the limit.
  package func add(_ recent: RecentCall) throws {
    try database.write { database in
      try database.execute(
        sql: """
          INSERT INTO recent (
            call, app, handle_kind, handle, name, is_outgoing, has_video, started, connected, ended,
            result, can_be_called_back
          ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          recent.call.uuidString, recent.app, recent.handleKind, recent.handle, recent.name,
          recent.isOutgoing, recent.hasVideo, recent.started.timeIntervalSince1970,
          recent.connected?.timeIntervalSince1970, recent.ended.timeIntervalSince1970,
          recent.result, recent.canBeCalledBack,
        ]
      )
      try database.execute(
        sql: "DELETE FROM recent WHERE id <= (SELECT max(id) FROM recent) - ?",
        arguments: [Self.recentLimit]
      )
    }
    Self.noteChange()
  }

  private static func noteChange() {
    NotificationCenter.default.post(name: recentsDidChange, object: nil)
  }

  /// Marks calls of the list as read; those that are not in it any more are ignored.
  package func markAsRead(_ calls: [UUID]) throws {
    try database.write { database in
      for call in calls {
        try database.execute(
          sql: "UPDATE recent SET is_read = 1 WHERE call = ?",
          arguments: [call.uuidString]
        )
      }
    }
    Self.noteChange()
  }

  /// Returns recent calls, newest first.
  package func recents(limit: Int = CallStore.recentLimit) throws -> [RecentCall] {
    try database.read { database in
      try Row.fetchAll(
        database,
        sql: "SELECT * FROM recent ORDER BY id DESC LIMIT ?",
        arguments: [limit]
      ).map { row in
        var recent = RecentCall(
          call: UUID(uuidString: try row.value("call")) ?? UUID(),
          app: try row.value("app"),
          handleKind: try row.value("handle_kind"),
          handle: try row.value("handle"),
          name: try row.value("name"),
          isOutgoing: try row.value("is_outgoing"),
          hasVideo: try row.value("has_video"),
          started: try row.date("started"),
          connected: try row.dateIfPresent("connected"),
          ended: try row.date("ended"),
          result: try row.value("result"),
          canBeCalledBack: try row.value("can_be_called_back")
        )
        recent.isRead = try row.value("is_read")
        return recent
      }
    }
  }

  /// Empties the list, and forgets the hosts with which there were calls.
  ///
  /// A running phone remembers those hosts until it ends.
  package func clearRecents() throws {
    try database.write {
      try $0.execute(sql: "DELETE FROM recent")
      try $0.execute(sql: "DELETE FROM host")
    }
    Self.noteChange()
  }
}
