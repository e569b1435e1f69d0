package import Foundation
import GRDB

/// What is remembered of the far side at an address.
package enum KnownPeer: Equatable, Sendable {
  /// Its identity's fingerprint as text, and whether the user has compared the words.
  case identity(String, isVerified: Bool)
  /// It has been encrypted, with a certificate that does not last.
  case encrypted
}

/// An identity, for lists.
package struct KnownIdentity: Equatable, Sendable {
  /// The fingerprint as text.
  package let fingerprint: String
  /// The user's name for it, empty for none.
  package let name: String
  /// When the user compared the words, nil if never.
  package let verified: Date?
  /// When it was met first.
  package let firstSeen: Date
  /// The addresses at which it was met, by name.
  package let addresses: [String]
}

/// The far sides whose identities are remembered, as ssh remembers hosts.
extension CallStore {
  static let peerTables = """
    CREATE TABLE identity (
      fingerprint TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '',
      verified REAL, first_seen REAL NOT NULL
    );
    CREATE TABLE peer (
      address TEXT PRIMARY KEY, fingerprint TEXT, last_seen REAL NOT NULL
    );
    CREATE INDEX peer_fingerprint ON peer (fingerprint);
    """

  /// What is remembered of the far side at an address, nil if it was never encrypted.
  package func knownPeer(at address: String) throws -> KnownPeer? {
    try database.read { database in
      let row = try Row.fetchOne(
        database,
        sql: """
          SELECT peer.fingerprint AS fingerprint, verified FROM peer
          LEFT JOIN identity ON identity.fingerprint = peer.fingerprint WHERE address = ?
          """,
        arguments: [address]
      )
      guard let row else { return nil }
      guard let fingerprint: String = row["fingerprint"] else { return .encrypted }
      return .identity(fingerprint, isVerified: row["verified"] as Double? != nil)
    }
  }

  /// Notes that the far side at an address was encrypted, and the fingerprint of its identity, nil
  /// if it has none that lasts.
  ///
  /// An identity that is remembered at the address stays: another one has to be accepted by
  /// `forgetPeer` first.
  package func remember(peerAt address: String, fingerprint: String?, at date: Date) throws {
    let seen = date.timeIntervalSince1970
    try database.write { database in
      if let fingerprint {
        try database.execute(
          sql: "INSERT OR IGNORE INTO identity (fingerprint, first_seen) VALUES (?, ?)",
          arguments: [fingerprint, seen]
        )
      }
      try database.execute(
        sql: """
          INSERT INTO peer (address, fingerprint, last_seen) VALUES (?1, ?2, ?3)
          ON CONFLICT (address) DO UPDATE SET
            fingerprint = COALESCE(fingerprint, excluded.fingerprint), last_seen = ?3
          """,
        arguments: [address, fingerprint, seen]
      )
    }
  }

  /// Every identity that is remembered, by name and age.
  package func knownIdentities() throws -> [KnownIdentity] {
    try database.read { database in
      try Row.fetchAll(database, sql: "SELECT * FROM identity ORDER BY name, first_seen").map {
        let fingerprint: String = $0["fingerprint"]
        return KnownIdentity(
          fingerprint: fingerprint,
          name: $0["name"],
          verified: ($0["verified"] as Double?).map { Date(timeIntervalSince1970: $0) },
          firstSeen: Date(timeIntervalSince1970: $0["first_seen"]),
          addresses: try String.fetchAll(
            database,
            sql: "SELECT address FROM peer WHERE fingerprint = ? ORDER BY address",
            arguments: [fingerprint]
          )
        )
      }
    }
  }

  /// The addresses that were encrypted with certificates that did not last, by name.
  package func addressesWithoutIdentity() throws -> [String] {
    try database.read { database in
      try String.fetchAll(
        database,
        sql: "SELECT address FROM peer WHERE fingerprint IS NULL ORDER BY address"
      )
    }
  }

  /// Notes that the user has compared the words of an identity, or takes that back with nil; false
  /// if it is not remembered.
  package func setVerified(_ fingerprint: String, at date: Date?) throws -> Bool {
    try change(
      "UPDATE identity SET verified = ? WHERE fingerprint = ?",
      [date?.timeIntervalSince1970, fingerprint]
    )
  }

  /// Gives an identity a name; false if it is not remembered.
  package func setName(of fingerprint: String, to name: String) throws -> Bool {
    try change("UPDATE identity SET name = ? WHERE fingerprint = ?", [name, fingerprint])
  }

  /// Forgets the far side at an address, so that the next identity there is accepted; false if it
  /// is not remembered.
  package func forgetPeer(at address: String) throws -> Bool {
    try database.write { database in
      try database.execute(sql: "DELETE FROM peer WHERE address = ?", arguments: [address])
      let isKnown = database.changesCount > 0
      try database.execute(
        sql: """
          DELETE FROM identity WHERE fingerprint NOT IN
          (SELECT fingerprint FROM peer WHERE fingerprint IS NOT NULL)
          """
      )
      return isKnown
    }
  }

  private func change(_ sql: String, _ arguments: StatementArguments) throws -> Bool {
    try database.write { database in
      try database.execute(sql: sql, arguments: arguments)
      return database.changesCount > 0
    }
  }
}
