import GRDB

/// A person whom the user calls often, and whose calls come through Do Not Disturb.
package struct Favourite: Equatable, Sendable {
  /// Address to call.
  package var handle: String
  /// Name to show.
  package var name: String

  /// Creates a favourite with the given handle and name.
  package init(handle: String, name: String) {
    self.handle = handle
    self.name = name
  }
}

/// Information of the user's lists and the call directory about a caller.
package struct CallerStanding: Equatable, Sendable {
  /// True if the caller is on the user's block list or on that of an enabled extension.
  package var isBlocked: Bool
  /// True if Do Not Disturb is on and the caller is not a favourite.
  package var isSilenced: Bool
  /// Label that an enabled extension gives to the caller; nil if none does.
  package var label: String?
}

extension CallStore {
  // MARK: Favourites

  /// Returns the favourites in the order of their names.
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

  /// Removes a favourite; returns false if there was none with that handle.
  package func removeFavourite(_ handle: String) throws -> Bool {
    try delete(from: "favourite", handle)
  }

  // MARK: The block list

  /// Returns the handles that the user blocks, in normal form.
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

  /// Unblocks a caller; returns false if it was not blocked.
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

  /// Returns true if Do Not Disturb is on.
  package func doesNotDisturb() throws -> Bool {
    try setting("dnd") == "on"
  }

  /// Turns Do Not Disturb on or off.
  package func setDoesNotDisturb(_ isOn: Bool) throws {
    try set("dnd", to: isOn ? "on" : "off")
  }

  // MARK: Devices

  /// Returns the device that was last selected for a side, as it was stored; nil if none was.
  package func chosenDevice(_ side: RememberedSide) throws -> String? {
    try setting(side.rawValue)
  }

  /// Stores the device that was selected for a side.
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
      (?3 OR EXISTS (SELECT 1 FROM setting WHERE name = 'dnd' AND value = 'on'))
        AND NOT EXISTS (SELECT 1 FROM favourite WHERE key = ?1) AS is_silenced,
      (
        SELECT text FROM identification JOIN extension ON extension.id = extension
        JOIN label ON label.id = label WHERE number = ?2 AND is_enabled LIMIT 1
      ) AS caller_label
    """

  /// Returns the information of the user's lists and the call directory about a caller.
  ///
  /// - Parameters:
  ///   - handle: the caller's address.
  ///   - isQuiet: true if the desktop is not to disturb, as if Do Not Disturb were on.
  /// - Returns: the information.
  /// - Throws: an error of the store.
  package func standing(of handle: String, isQuiet: Bool = false) throws -> CallerStanding {
    let key = CallerNumber.key(handle)
    let number = CallerNumber.normalized(handle)
    // A single statement sees one state of the store without a transaction around it.
    return try database.unsafeRead { database in
      let statement = try database.cachedStatement(sql: Self.standingQuery)
      let row = try Row.fetchOne(statement, arguments: [key, number, isQuiet])
      return CallerStanding(
        isBlocked: try row?.value("is_blocked") ?? false,
        isSilenced: try row?.value("is_silenced") ?? false,
        label: try row?.value("caller_label") ?? nil
      )
    }
  }
}
