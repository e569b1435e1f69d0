package import Foundation
import GRDB

/// What is remembered of a far side that was encrypted.
package struct KnownPeer: Equatable, Sendable {
  /// Its identity's fingerprint as text, nil if its certificates did not last.
  package var fingerprint: String?
  /// Whether the user has compared the words.
  package var isVerified = false
  /// How its signalling was encrypted, nil if it was not: the certificate's fingerprint as text,
  /// or nothing if the system's authorities vouched for it.
  package var signalling: String?

  /// What is to be remembered.
  package init(fingerprint: String?, signalling: String? = nil) {
    self.fingerprint = fingerprint
    self.signalling = signalling
  }
}

/// An identity, for lists.
package struct KnownIdentity: Equatable, Sendable {
  /// The fingerprint as text.
  package let fingerprint: String
  /// The user's name for it, empty for none.
  package let name: String
  /// When it was met first.
  package let firstSeen: Date
  /// The addresses at which it was met, by name.
  package let addresses: [Address]

  /// An address at which it was met.
  package struct Address: Equatable, Sendable {
    /// The address.
    package let text: String
    /// When the user compared the words there, nil if never.
    package let verified: Date?
  }
}

/// The far sides whose identities are remembered, as ssh remembers hosts.
extension CallStore {
  static let peerTables = """
    CREATE TABLE identity (
      fingerprint TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', first_seen REAL NOT NULL
    );
    CREATE TABLE peer (
      address TEXT PRIMARY KEY, fingerprint TEXT, signalling TEXT, verified REAL,
      last_seen REAL NOT NULL
    );
    CREATE INDEX peer_fingerprint ON peer (fingerprint);
    """

  /// What is remembered of the far side at an address, nil if it was never encrypted.
  package func knownPeer(at address: String) throws -> KnownPeer? {
    try database.read { database in
      let row = try Row.fetchOne(
        database,
        sql: """
          SELECT fingerprint, signalling, verified FROM peer WHERE address = ?
          """,
        arguments: [address]
      )
      guard let row else { return nil }
      var peer = KnownPeer(
        fingerprint: try row.value("fingerprint"),
        signalling: try row.value("signalling")
      )
      peer.isVerified = try row.dateIfPresent("verified") != nil
      return peer
    }
  }

  /// Notes what was learned of the far side at an address, which was encrypted.
  ///
  /// What is remembered at the address stays: another identity has to be accepted by `forgetPeer`
  /// first.
  package func remember(_ peer: KnownPeer, at address: String, on date: Date) throws {
    let seen = date.timeIntervalSince1970
    try database.write { database in
      if let fingerprint = peer.fingerprint {
        try database.execute(
          sql: "INSERT OR IGNORE INTO identity (fingerprint, first_seen) VALUES (?, ?)",
          arguments: [fingerprint, seen]
        )
      }
      try database.execute(
        sql: """
          INSERT INTO peer (address, fingerprint, signalling, last_seen) VALUES (?, ?, ?, ?)
          ON CONFLICT (address) DO UPDATE SET
            fingerprint = COALESCE(fingerprint, excluded.fingerprint),
            signalling = COALESCE(signalling, excluded.signalling),
            last_seen = excluded.last_seen
          """,
        arguments: [address, peer.fingerprint, peer.signalling, seen]
      )
    }
  }

  /// Every identity that is remembered, by name and age.
  package func knownIdentities() throws -> [KnownIdentity] {
    try database.read { database in
      try Row.fetchAll(database, sql: "SELECT * FROM identity ORDER BY name, first_seen").map {
        let fingerprint: String = try $0.value("fingerprint")
        return KnownIdentity(
          fingerprint: fingerprint,
          name: try $0.value("name"),
          firstSeen: try $0.date("first_seen"),
          addresses: try Row.fetchAll(
            database,
            sql: "SELECT address, verified FROM peer WHERE fingerprint = ? ORDER BY address",
            arguments: [fingerprint]
          ).map {
            KnownIdentity.Address(
              text: try $0.value("address"),
              verified: try $0.dateIfPresent("verified")
            )
          }
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

  /// Notes that the user has compared the words of an identity at an address, or takes that back
  /// with nil; false if it is not remembered there.
  ///
  /// It holds for that address alone: the same identity may call itself something else elsewhere.
  package func setVerified(_ fingerprint: String, address: String, on date: Date?) throws -> Bool {
    try change(
      "UPDATE peer SET verified = ? WHERE fingerprint = ? AND address = ?",
      [date?.timeIntervalSince1970, fingerprint, address]
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
