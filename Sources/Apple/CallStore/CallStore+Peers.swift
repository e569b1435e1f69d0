package import Foundation
import GRDB

/// Stored facts about a peer whose calls were encrypted.
package struct KnownPeer: Equatable, Sendable {
  /// Fingerprint of its identity as text; nil if it uses a new certificate for each call.
  package var fingerprint: String?
  /// True if the user has compared the words.
  package var isVerified = false
  /// Encryption of its signalling; nil if there was none.
  ///
  /// The fingerprint of the certificate as text, or an empty string if the system's certificate
  /// authorities vouch for it.
  package var signalling: String?

  /// Creates the facts to store.
  package init(fingerprint: String?, signalling: String? = nil) {
    self.fingerprint = fingerprint
    self.signalling = signalling
  }
}

/// A stored identity, for lists.
package struct KnownIdentity: Equatable, Sendable {
  /// Fingerprint of the identity, as text.
  package let fingerprint: String
  /// The user's name for the identity; empty if there is none.
  package let name: String
  /// Time at which the identity was first seen.
  package let firstSeen: Date
  /// Addresses at which the identity was seen, in alphabetical order.
  package let addresses: [Address]

  /// An address at which an identity was seen.
  package struct Address: Equatable, Sendable {
    /// The address.
    package let text: String
    /// Time at which the user compared the words of the identity there; nil if never.
    package let verified: Date?
  }
}

/// Peers whose identities are remembered, as ssh remembers hosts.
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

  /// Returns the facts about the peer at an address; nil if it was never encrypted.
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

  /// Stores facts about the encrypted peer at an address.
  ///
  /// Facts stored there before are kept: another identity has to be accepted by `forgetPeer` first.
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

  /// Returns all stored identities, in the order of their names, then of their age.
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

  /// Returns, in alphabetical order, the addresses of encrypted peers without a lasting
  /// certificate.
  package func addressesWithoutIdentity() throws -> [String] {
    try database.read { database in
      try String.fetchAll(
        database,
        sql: "SELECT address FROM peer WHERE fingerprint IS NULL ORDER BY address"
      )
    }
  }

  /// Marks an identity as verified at an address, where the user compared the words; a nil `date`
  /// removes the mark.
  ///
  /// The mark is valid for that address alone: the same identity may use another name elsewhere.
  /// Returns false if the identity is not stored for the address.
  package func setVerified(_ fingerprint: String, address: String, on date: Date?) throws -> Bool {
    try change(
      "UPDATE peer SET verified = ? WHERE fingerprint = ? AND address = ?",
      [date?.timeIntervalSince1970, fingerprint, address]
    )
  }

  /// Gives an identity a name; returns false if it is not stored.
  package func setName(of fingerprint: String, to name: String) throws -> Bool {
    try change("UPDATE identity SET name = ? WHERE fingerprint = ?", [name, fingerprint])
  }

  /// Forgets the peer at an address, so that the next identity there is accepted; returns false if
  /// it is not stored.
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
