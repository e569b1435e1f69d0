import GRDB

/// A fault that ends the load of a call directory extension.
package enum DirectoryFault: Error, Equatable, Sendable {
  /// The numbers of a list are not in ascending order.
  case entriesOutOfOrder
  /// A number occurs twice in the blocking list, or twice with the same label.
  case duplicateEntries
  /// There are too many entries.
  case maximumEntriesExceeded
  /// An entry was removed in a load that replaces everything.
  case unexpectedIncrementalRemoval
  /// An entry is for something that is no telephone number.
  case noNumber
  /// Another program holds the store.
  case isBusy
}

/// A line of an extension's load: an entry, or a question about the load.
package enum DirectoryEntry: Equatable, Sendable {
  /// The extension reads `isIncremental`: before the first entry this makes the load incremental,
  /// if the extension was loaded before.
  case readsIncremental
  /// Block a number.
  case block(Int64)
  /// Unblock a number.
  case unblock(Int64)
  /// Unblock all numbers of the extension.
  case unblockAll
  /// Give a number a label.
  case identify(Int64, String)
  /// Remove all labels of a number.
  case unidentify(Int64)
  /// Remove all labels of the extension.
  case unidentifyAll
}

extension DirectoryEntry {
  /// The number that is blocked or labelled, or no longer; nil for other lines.
  fileprivate var number: Int64? {
    switch self {
    case .block(let number), .unblock(let number), .identify(let number, _),
      .unidentify(let number):
      number
    case .readsIncremental, .unblockAll, .unidentifyAll: nil
    }
  }
}

/// Checks of a load, entry by entry: order, duplicates, number of entries, removals.
package struct DirectoryLoadCheck: Sendable {
  /// Maximum number of entries in one load of an extension.
  package static let maximumEntries = 4_000_000
  /// The greatest number that is accepted.
  package static let greatestNumber = Int64.max - 1

  /// True once the extension has learnt that the load is incremental.
  package private(set) var isIncremental = false
  private let mayBeIncremental: Bool
  private var hasBegun = false
  private var lastBlocked: Int64?
  private var lastIdentified: Int64?
  private var labelsOfLast: Set<String> = []
  private var count = 0

  /// Creates the checks of a load, which may be incremental if the extension was loaded before.
  package init(mayBeIncremental: Bool) {
    self.mayBeIncremental = mayBeIncremental
  }

  /// Checks the next entry; throws the fault if it breaks a rule.
  package mutating func accept(_ entry: DirectoryEntry) throws(DirectoryFault) {
    if case .readsIncremental = entry {
      // Read after the first entry it is too late (R110).
      if !hasBegun, mayBeIncremental { isIncremental = true }
      return
    }
    hasBegun = true
    count += 1
    guard count <= Self.maximumEntries else { throw .maximumEntriesExceeded }
    guard entry.number.map({ (0...Self.greatestNumber).contains($0) }) ?? true else {
      throw .noNumber
    }
    switch entry {
    case .readsIncremental:
      break
    case .block(let number):
      if let lastBlocked {
        guard number != lastBlocked else { throw .duplicateEntries }
        guard number > lastBlocked else { throw .entriesOutOfOrder }
      }
      lastBlocked = number
    case .identify(let number, let label):
      if let lastIdentified, number < lastIdentified { throw .entriesOutOfOrder }
      if number != lastIdentified { labelsOfLast = [] }
      guard labelsOfLast.insert(label).inserted else { throw .duplicateEntries }
      lastIdentified = number
    case .unblock, .unblockAll, .unidentify, .unidentifyAll:
      guard isIncremental else { throw .unexpectedIncrementalRemoval }
    }
  }
}

extension CallStore {
  /// Returns true if an extension is enabled; nil if the user has never decided.
  package func isExtensionEnabled(_ identifier: String) throws -> Bool? {
    try database.read { database in
      try Bool.fetchOne(
        database,
        sql: "SELECT is_enabled FROM extension WHERE identifier = ?",
        arguments: [identifier]
      )
    }
  }

  /// Enables or disables an extension; its entries are kept, but used only while it is enabled.
  package func setExtension(_ identifier: String, isEnabled: Bool) throws {
    try database.write { database in
      try database.execute(
        sql: """
          INSERT INTO extension (identifier, is_enabled) VALUES (?, ?)
          ON CONFLICT (identifier) DO UPDATE SET is_enabled = excluded.is_enabled
          """,
        arguments: [identifier, isEnabled]
      )
    }
  }

  /// Returns true if an extension was loaded before, so that changes are enough.
  package func isExtensionLoaded(_ identifier: String) throws -> Bool {
    try database.read { database in
      try Bool.fetchOne(
        database,
        sql: "SELECT is_loaded FROM extension WHERE identifier = ?",
        arguments: [identifier]
      ) ?? false
    }
  }

  /// Loads an extension's entries, all or none: after an error the old ones stay.
  ///
  /// - Parameters:
  ///   - identifier: identifier of an extension; only one that `setExtension` has stored is loaded.
  ///   - next: returns the next entry, and nil after the last.
  /// - Throws: the `DirectoryFault` of the entries, or the error of `next`.
  package func load(
    _ identifier: String,
    entries next: () throws -> DirectoryEntry?
  ) throws {
    do {
      try write(identifier, entries: next)
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      throw DirectoryFault.isBusy
    }
  }

  private func write(
    _ identifier: String,
    entries next: () throws -> DirectoryEntry?
  ) throws {
    let mayBeIncremental = try isExtensionLoaded(identifier)
    try database.write { database in
      let id = try Int64.fetchOne(
        database,
        sql: "SELECT id FROM extension WHERE identifier = ?",
        arguments: [identifier]
      )
      guard let id else { return }
      var check = DirectoryLoadCheck(mayBeIncremental: mayBeIncremental)
      var writer = try DirectoryWriter(database, extension: id)
      var hasCleared = false
      while let entry = try next() {
        try check.accept(entry)
        if entry == .readsIncremental { continue }
        if !hasCleared {
          hasCleared = true
          if !check.isIncremental { try writer.clear() }
        }
        try writer.write(entry)
      }
      // A load without entries empties the list, unless only changes were wanted.
      if !hasCleared, !check.isIncremental { try writer.clear() }
      try database.execute(
        sql: "UPDATE extension SET is_loaded = 1 WHERE id = ?",
        arguments: [id]
      )
    }
  }

  /// Returns the numbers of blocking and of identification entries of an extension.
  package func entryCounts(of identifier: String) throws -> (blocked: Int, identified: Int) {
    try database.read { database in
      func count(_ table: String) throws -> Int {
        try Int.fetchOne(
          database,
          sql: """
            SELECT count(*) FROM \(table) WHERE extension =
            (SELECT id FROM extension WHERE identifier = ?)
            """,
          arguments: [identifier]
        ) ?? 0
      }
      return (try count("blocking"), try count("identification"))
    }
  }
}

/// Prepared statements of one load.
private struct DirectoryWriter {
  private let database: Database
  private let id: Int64
  private let block: Statement
  private let identify: Statement
  private let addLabel: Statement
  private var labels: [String: Int64] = [:]

  init(_ database: Database, extension id: Int64) throws {
    self.database = database
    self.id = id
    block = try database.makeStatement(
      sql: "INSERT OR IGNORE INTO blocking (number, extension) VALUES (?, ?)"
    )
    identify = try database.makeStatement(
      sql: "INSERT OR IGNORE INTO identification (number, extension, label) VALUES (?, ?, ?)"
    )
    addLabel = try database.makeStatement(sql: "INSERT OR IGNORE INTO label (text) VALUES (?)")
  }

  mutating func clear() throws {
    try write(.unblockAll)
    try write(.unidentifyAll)
  }

  mutating func write(_ entry: DirectoryEntry) throws {
    switch entry {
    case .readsIncremental:
      break
    case .block(let number):
      try block.execute(arguments: [number, id])
    case .unblock(let number):
      try delete("blocking WHERE number = ? AND extension = ?", [number, id])
    case .unblockAll:
      try delete("blocking WHERE extension = ?", [id])
    case .identify(let number, let label):
      try identify.execute(arguments: [number, id, try labelID(label)])
    case .unidentify(let number):
      try delete("identification WHERE number = ? AND extension = ?", [number, id])
    case .unidentifyAll:
      try delete("identification WHERE extension = ?", [id])
    }
  }

  private func delete(_ condition: String, _ arguments: StatementArguments) throws {
    try database.execute(sql: "DELETE FROM \(condition)", arguments: arguments)
  }

  // Labels repeat; those of the last few thousand are remembered.
  private mutating func labelID(_ text: String) throws -> Int64 {
    if let id = labels[text] { return id }
    try addLabel.execute(arguments: [text])
    let id = try Int64.fetchOne(
      database,
      sql: "SELECT id FROM label WHERE text = ?",
      arguments: [text]
    )
    if labels.count > 4_096 { labels = [:] }
    labels[text] = id
    return id ?? 0
  }
}
