package import Foundation
import GRDB

/// Hosts with which there were calls, remembered so that a flood of unknown hosts cannot keep them
/// out.
extension CallStore {
  static let hostTable = """
    CREATE TABLE host (address TEXT PRIMARY KEY, last_seen REAL NOT NULL) WITHOUT ROWID;
    """

  /// Maximum number of hosts that are remembered; those of the oldest calls are forgotten first.
  package static let hostLimit = 256

  /// Notes that there was a call with a host, given by its network (`SocketAddress.network(of:)`).
  ///
  /// The host counts as the newest one, even if the wall clock was set back. Throws if it cannot be
  /// written.
  package func noteHost(_ address: String, on date: Date) throws {
    try database.write { database in
      try database.execute(
        sql: """
          INSERT INTO host (address, last_seen)
          SELECT ?, MAX(?, COALESCE(MAX(last_seen), 0) + 0.001) FROM host WHERE true
          ON CONFLICT (address) DO UPDATE SET last_seen = excluded.last_seen
          """,
        arguments: [address, date.timeIntervalSince1970]
      )
      try database.execute(
        sql: """
          DELETE FROM host WHERE address NOT IN
          (SELECT address FROM host ORDER BY last_seen DESC LIMIT ?)
          """,
        arguments: [Self.hostLimit]
      )
    }
  }

  /// Returns the networks of the hosts with which there were calls, oldest calls first.
  ///
  /// Throws if the store cannot be read.
  package func knownHosts() throws -> [String] {
    try database.read {
      try String.fetchAll($0, sql: "SELECT address FROM host ORDER BY last_seen")
    }
  }
}
