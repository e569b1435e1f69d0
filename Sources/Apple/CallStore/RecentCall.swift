package import Foundation
import GRDB

/// A call that is over.
package struct RecentCall: Equatable, Sendable {
  /// The call.
  package var call: UUID
  /// The app whose call it was.
  package var app: String
  /// What kind of address the handle is, numbered as Apple numbers them.
  package var handleKind: Int
  /// Whom to call back.
  package var handle: String
  /// What to show.
  package var name: String
  /// True if this side placed it.
  package var isOutgoing: Bool
  /// True if it had pictures.
  package var hasVideo: Bool
  /// When it appeared.
  package var started: Date
  /// When both sides could talk, nil if never.
  package var connected: Date?
  /// When it ended.
  package var ended: Date
  /// How it came out: `talked`, `missed`, `declined`, `unanswered`, `cancelled`, `failed`,
  /// `answeredElsewhere`, `declinedElsewhere`.
  package var result: String
  /// The same in words, such as `answered elsewhere`.
  package var resultInWords: String {
    result.reduce(into: "") { words, letter in
      words += letter.isUppercase ? " " + letter.lowercased() : String(letter)
    }
  }
  /// Whether the app could dial the handle.
  package var canBeCalledBack: Bool

  /// A call with the given facts.
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
  /// How many recent calls are kept.
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
  }

  /// The newest calls first.
  package func recents(limit: Int = CallStore.recentLimit) throws -> [RecentCall] {
    try database.read { database in
      try Row.fetchAll(
        database,
        sql: "SELECT * FROM recent ORDER BY id DESC LIMIT ?",
        arguments: [limit]
      ).map { row in
        RecentCall(
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
      }
    }
  }

  /// Empties the list, and forgets the hosts with which there were calls; a phone that runs knows
  /// them until it ends.
  package func clearRecents() throws {
    try database.write {
      try $0.execute(sql: "DELETE FROM recent")
      try $0.execute(sql: "DELETE FROM host")
    }
  }
}
