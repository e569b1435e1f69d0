import GRDB

/// A favourite: a person whom the user calls often, and who may disturb.
package struct Favourite: Equatable, Sendable {
  /// Whom to call.
  package var handle: String
  /// What to show.
  package var name: String

  /// A favourite with the given handle and name.
  package init(handle: String, name: String) {
    self.handle = handle
    self.name = name
  }
}

/// What the lists say of a caller.
package struct CallerStanding: Equatable, Sendable {
  /// On the user's block list or on an enabled extension's.
  package var isBlocked: Bool
  /// Do not disturb is on, and the caller is no favourite.
  package var isSilenced: Bool
  /// The label of an enabled extension.
  package var label: String?
}

extension CallStore {
  // MARK: Favourites

  /// The favourites by name.
  package func favourites() throws -> [Favourite] {
    try database.read { database in
      try Row.fetchAll(database, sql: "SELECT * FROM favourite ORDER BY name, handle")
        .map { Favourite(handle: try $0.value("handle"), name: try $0.value("name")) }
    }
  }

  /// Adds a favourite, or renames it.
  package func add(_ favourite: Favourite) throws {
    try database.write { database in
      try database.execute(
        sql: "INSERT OR REPLACE INTO favourite (handle, key, name) VALUES (?, ?, ?)",
        arguments: [favourite.handle, CallerNumber.key(favourite.handle), favourite.name]
      )
    }
  }

  /// Removes a favourite; false if it was none.
  package func removeFavourite(_ handle: String) throws -> Bool {
    try delete(from: "favourite", handle)
  }

  // MARK: The block list

  /// Whom the user blocks, as normal forms of handles.
  package func blocked() throws -> [String] {
    try database.read { database in
      try String.fetchAll(database, sql: "SELECT handle FROM blocked ORDER BY handle")
    }
  }

  /// Blocks a caller, however the handle is spelled.
  package func block(_ handle: String) throws {
    try database.write { database in
      try database.execute(
        sql: "INSERT OR REPLACE INTO blocked (handle) VALUES (?)",
        arguments: [CallerNumber.key(handle)]
      )
    }
  }

  /// Unblocks a caller; false if it was not blocked.
  package func unblock(_ handle: String) throws -> Bool {
    try delete(from: "blocked", CallerNumber.key(handle))
  }

  private func delete(from table: String, _ handle: String) throws -> Bool {
    try database.write { database in
      try database.execute(sql: "DELETE FROM \(table) WHERE handle = ?", arguments: [handle])
      return database.changesCount > 0
    }
  }

  // MARK: Do not disturb

  /// Whether the user wants to be left alone.
  package func doesNotDisturb() throws -> Bool {
    try setting("dnd") == "on"
  }

  /// Turns do not disturb on or off.
  package func setDoesNotDisturb(_ isOn: Bool) throws {
    try set("dnd", to: isOn ? "on" : "off")
  }

  // MARK: Devices

  /// Which device was chosen last on a side, as it was stored; nil if none was.
  package func chosenDevice(_ side: RememberedSide) throws -> String? {
    try setting(side.rawValue)
  }

  /// Notes which device was chosen on a side.
  package func setChosenDevice(_ side: RememberedSide, _ device: String) throws {
    try set(side.rawValue, to: device)
  }

  private func setting(_ name: String) throws -> String? {
    try database.read { database in
      try String.fetchOne(
        database,
        sql: "SELECT value FROM setting WHERE name = ?",
        arguments: [name]
      )
    }
  }

  private func set(_ name: String, to value: String) throws {
    try database.write { database in
      try database.execute(
        sql: "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)",
        arguments: [name, value]
      )
    }
  }

  // MARK: Callers

  // One statement, compiled once for each connection: a caller waits for it.
  private static let standingQuery = """
    SELECT
      EXISTS (SELECT 1 FROM blocked WHERE handle = ?1)
        OR EXISTS (
          SELECT 1 FROM blocking JOIN extension ON extension.id = extension
          WHERE number = ?2 AND is_enabled
        ) AS is_blocked,
      EXISTS (SELECT 1 FROM setting WHERE name = 'dnd' AND value = 'on')
        AND NOT EXISTS (SELECT 1 FROM favourite WHERE key = ?1) AS is_silenced,
      (
        SELECT text FROM identification JOIN extension ON extension.id = extension
        JOIN label ON label.id = label WHERE number = ?2 AND is_enabled LIMIT 1
      ) AS caller_label
    """

  /// What the lists and the call directory say of a caller.
  package func standing(of handle: String) throws -> CallerStanding {
    let key = CallerNumber.key(handle)
    let number = CallerNumber.normalized(handle)
    // A single statement sees one state of the store without a transaction around it.
    return try database.unsafeRead { database in
      let statement = try database.cachedStatement(sql: Self.standingQuery)
      let row = try Row.fetchOne(statement, arguments: [key, number])
      return CallerStanding(
        isBlocked: try row?.value("is_blocked") ?? false,
        isSilenced: try row?.value("is_silenced") ?? false,
        label: try row?.value("caller_label") ?? nil
      )
    }
  }
}
