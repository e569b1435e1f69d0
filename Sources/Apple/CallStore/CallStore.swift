package import Foundation
import FoundationAdditions
import GRDB

/// Data about calls that programs of a user keep between their starts.
///
/// Recent calls, favourites, known peers and hosts, the block list, Do Not Disturb, and the entries
/// of the call directory. One SQLite file for each user, which every program of the user shares.
/// **Thread safety:** every member may be called from any thread; reading continues while a
/// directory is being loaded.
package final class CallStore: Sendable {
  let database: DatabasePool

  /// Opens the store in `folder`, and creates both if they do not exist; only the user may read
  /// them.
  package init(in folder: URL) throws(CallStoreError) {
    do {
      database = try Self.makeDatabase(in: folder)
    } catch {
      throw CallStoreError(folder, error)
    }
  }

  private static func makeDatabase(in folder: URL) throws -> DatabasePool {
    let manager = FileManager.default
    try manager.createDirectory(
      at: folder,
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
    // Two programs that make the file at once would each make its tables.
    let lock = unsafe open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { if lock >= 0 { close(lock) } }
    while lock >= 0, flock(lock, LOCK_EX) != 0, errno == EINTR {}
    let file = folder.appendingPathComponent("calls.sqlite")
    // SQLite would let others read it. A file that is there is not even opened: closing it would
    // drop the locks that other connections of this process have on it (POSIX `fcntl`).
    let descriptor = unsafe open(file.path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
    if descriptor >= 0 { close(descriptor) }
    var configuration = Configuration()
    // Another program may be loading a call directory.
    configuration.busyMode = .timeout(60)
    configuration.maximumReaderCount = 2
    let database = try DatabasePool(path: file.path, configuration: configuration)
    try migrator.migrate(database)
    return database
  }

  /// The user's own folder: `sidetone` under XDG_DATA_HOME, or else under `~/.local/share`.
  package static var defaultFolder: URL {
    BaseFolder.data.url().appendingPathComponent("sidetone")
  }

  private static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1") { database in
      try database.execute(
        sql: """
          CREATE TABLE recent (
            id INTEGER PRIMARY KEY,
            call TEXT NOT NULL,
            app TEXT NOT NULL,
            handle_kind INTEGER NOT NULL,
            handle TEXT NOT NULL,
            name TEXT NOT NULL,
            is_outgoing INTEGER NOT NULL,
            has_video INTEGER NOT NULL,
            started REAL NOT NULL,
            connected REAL,
            ended REAL NOT NULL,
            result TEXT NOT NULL
          );
          CREATE TABLE favourite (
            handle TEXT PRIMARY KEY, key TEXT NOT NULL, name TEXT NOT NULL
          );
          CREATE INDEX favourite_key ON favourite (key);
          CREATE TABLE blocked (handle TEXT PRIMARY KEY);
          CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
          CREATE TABLE extension (
            id INTEGER PRIMARY KEY,
            identifier TEXT NOT NULL UNIQUE,
            is_enabled INTEGER NOT NULL DEFAULT 0,
            is_loaded INTEGER NOT NULL DEFAULT 0
          );
          CREATE TABLE blocking (
            number INTEGER NOT NULL, extension INTEGER NOT NULL,
            PRIMARY KEY (number, extension)
          ) WITHOUT ROWID;
          CREATE TABLE label (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
          CREATE TABLE identification (
            number INTEGER NOT NULL, extension INTEGER NOT NULL, label INTEGER NOT NULL,
            PRIMARY KEY (number, extension, label)
          ) WITHOUT ROWID;
          """
      )
    }
    migrator.registerMigration("2") { database in
      try database.execute(
        sql: "ALTER TABLE recent ADD COLUMN can_be_called_back INTEGER NOT NULL DEFAULT 1"
      )
    }
    migrator.registerMigration("3") { try $0.execute(sql: peerTables) }
    migrator.registerMigration("4") { try $0.execute(sql: hostTable) }
    migrator.registerMigration("5") { database in
      try database.execute(sql: "ALTER TABLE recent ADD COLUMN is_read INTEGER NOT NULL DEFAULT 0")
    }
    return migrator
  }
}
