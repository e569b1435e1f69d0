import Foundation
import GRDB
import Testing

@testable import CallStore

/// Files that other releases have written.
struct ReleaseTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("store-\(UUID().uuidString)")

  private var file: URL { folder.appendingPathComponent("calls.sqlite") }

  // The first release's, with what was done to it afterwards.
  private func makeFile(changedBy changes: String = "") throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let database = try DatabasePool(path: file.path)
    try database.write { try $0.execute(sql: "\(FirstRelease.sql)\n\(changes)") }
    try database.close()
  }

  private func date(_ seconds: Double) -> Date { Date(timeIntervalSince1970: seconds) }

  private func recents() throws -> [RecentCall] {
    [
      RecentCall(
        call: try #require(UUID(uuidString: "859D85F4-9B1E-4DFF-BD08-23C0F9A7E734")),
        app: "MonkeyCall",
        handleKind: 2,
        handle: "+14085555555",
        name: "Eve",
        isOutgoing: false,
        hasVideo: true,
        started: date(1_795_000_200),
        connected: nil,
        ended: date(1_795_000_201),
        result: "declinedElsewhere",
        canBeCalledBack: false
      ),
      RecentCall(
        call: try #require(UUID(uuidString: "02F4C221-06D5-4FBB-9605-FD89B3EC9B8E")),
        app: "Sidetone",
        handleKind: 1,
        handle: "sip:bob@192.0.2.8:5070",
        name: "Bob \"Zoë\" Müller",
        isOutgoing: true,
        started: date(1_795_000_100),
        connected: nil,
        ended: date(1_795_000_110),
        result: "unanswered",
        canBeCalledBack: true
      ),
      RecentCall(
        call: try #require(UUID(uuidString: "E4BEAE91-0FFD-429E-8282-9DBBF017D81C")),
        app: "Sidetone",
        handleKind: 1,
        handle: "sip:alice@192.0.2.7",
        name: "sip:alice@192.0.2.7",
        isOutgoing: false,
        started: date(1_795_000_000.25),
        connected: date(1_795_000_003.5),
        ended: date(1_795_000_063.75),
        result: "talked",
        canBeCalledBack: true
      ),
    ]
  }

  @Test func rowsOfTheFirstReleaseAreKept() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try makeFile()
    // The second time there is nothing to move.
    for _ in 0..<2 {
      let store = try CallStore(in: folder)
      #expect(try store.recents() == recents())
      #expect(
        try store.favourites() == [Favourite(handle: "sip:Alice@192.0.2.7", name: "Alice")]
      )
      #expect(try store.blocked() == ["14085555555", "eve@192.0.2.9"])
      #expect(try store.doesNotDisturb())
      #expect(try store.chosenDevice(.microphone) == FirstRelease.microphone)
      #expect(try store.chosenDevice(.loudspeaker) == nil)
      #expect(try store.isExtensionEnabled("monkey") == true)
      #expect(try store.isExtensionEnabled("silent") == false)
      #expect(try store.isExtensionLoaded("monkey") && !store.isExtensionLoaded("silent"))
      #expect(try store.entryCounts(of: "monkey") == (1, 1))
      #expect(try store.standing(of: "+1 800 555 5555").isBlocked)
      #expect(try store.standing(of: "+18775555555").label == "Telemarketer")
      #expect(try !store.standing(of: "sip:alice@192.0.2.7").isSilenced)
    }
  }

  @Test func peersOfTheFirstReleaseAreKept() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try makeFile()
    let store = try CallStore(in: folder)
    let fingerprint = FirstRelease.fingerprint
    var alice = KnownPeer(fingerprint: fingerprint, signalling: fingerprint)
    alice.isVerified = true
    #expect(try store.knownPeer(at: "alice@192.0.2.7") == alice)
    #expect(try store.knownPeer(at: "alice@192.0.2.70") == KnownPeer(fingerprint: fingerprint))
    let carol = KnownPeer(fingerprint: nil, signalling: "")
    #expect(try store.knownPeer(at: "carol@192.0.2.10") == carol)
    let identity = KnownIdentity(
      fingerprint: fingerprint,
      name: "Alice",
      firstSeen: date(1_795_000_003.5),
      addresses: [
        KnownIdentity.Address(text: "alice@192.0.2.7", verified: date(1_795_000_010)),
        KnownIdentity.Address(text: "alice@192.0.2.70", verified: nil),
      ]
    )
    #expect(try store.knownIdentities() == [identity])
    #expect(try store.addressesWithoutIdentity() == ["carol@192.0.2.10"])
  }

  // All tables, as they were made and changed, and the releases that did it.
  private func structure(of store: CallStore) throws -> [String] {
    try store.database.read { database in
      try String.fetchAll(
        database,
        sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"
      ) + String.fetchAll(database, sql: "SELECT identifier FROM grdb_migrations ORDER BY 1")
    }
  }

  @Test func storeOfTheFirstReleaseBecomesOneOfThisRelease() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try makeFile()
    let store = try CallStore(in: folder)
    let fresh = try CallStore(in: folder.appendingPathComponent("fresh"))
    #expect(try structure(of: store) == structure(of: fresh))
    #expect(try store.knownHosts() == [])
    try store.noteHost("192.0.2.7", on: date(1))
    #expect(try store.knownHosts() == ["192.0.2.7"])
    let call = try #require(recents().first)
    try store.add(call)
    #expect(try store.recents() == [call] + recents())
  }

  /// A later release has upgraded the file, and this one is used again.
  @Test func fileOfALaterReleaseIsUsedAndLosesNothing() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try makeFile(
      changedBy: """
        CREATE TABLE host (address TEXT PRIMARY KEY, last_seen REAL NOT NULL) WITHOUT ROWID;
        INSERT INTO grdb_migrations VALUES ('4'), ('99');
        PRAGMA user_version = 99;
        CREATE TABLE later (id INTEGER);
        INSERT INTO later VALUES (5);
        ALTER TABLE blocked ADD COLUMN reason TEXT;
        UPDATE blocked SET reason = 'spam';
        ALTER TABLE recent ADD COLUMN language TEXT NOT NULL DEFAULT 'en';
        UPDATE recent SET result = 'wasTranslated', handle_kind = 99, language = 'fr' WHERE id = 9;
        INSERT INTO setting VALUES ('language', 'fr');
        """
    )
    let store = try CallStore(in: folder)
    let calls = try recents()
    var eve = try #require(calls.first)
    eve.result = "wasTranslated"
    eve.handleKind = 99
    #expect(try store.recents() == [eve] + calls.dropFirst())
    #expect(try store.standing(of: "sip:eve@192.0.2.9").isBlocked)
    try store.block("sip:mallory@192.0.2.11")
    try store.add(eve)
    try store.setDoesNotDisturb(false)
    #expect(try store.blocked().count == 3 && store.recents().count == 4)

    // The later release finds all of its own again.
    let found = try DatabaseQueue(path: file.path).read { database in
      try [
        "SELECT reason FROM blocked WHERE handle = 'eve@192.0.2.9'",
        "SELECT group_concat(language) FROM (SELECT language FROM recent ORDER BY id)",
        "SELECT value FROM setting WHERE name = 'language'",
        "SELECT CAST(id AS TEXT) FROM later",
        "SELECT CAST(user_version AS TEXT) FROM pragma_user_version",
        "SELECT max(identifier) FROM grdb_migrations",
      ].map { try String.fetchOne(database, sql: $0) }
    }
    #expect(found == ["spam", "en,en,fr,en", "fr", "5", "99", "99"])
  }

  /// Nothing that another program or a later release writes ends this program.
  @Test(
    arguments: [
      "UPDATE recent SET started = 'yesterday'", "UPDATE recent SET connected = 'never'",
      "UPDATE recent SET ended = 9e999", "UPDATE recent SET started = -1e300",
      "UPDATE recent SET handle_kind = 'generic'", "UPDATE recent SET name = x'FF'",
      "ALTER TABLE recent RENAME COLUMN handle TO address",
      "UPDATE favourite SET name = x'FF'", "UPDATE label SET text = x'FF'",
      "UPDATE identity SET first_seen = 'once'", "UPDATE peer SET verified = 'yes'",
      "UPDATE peer SET fingerprint = x'FF'", "UPDATE peer SET signalling = x'FF'",
    ]
  )
  func rowOfAnotherKindIsAnError(changes: String) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try makeFile(changedBy: changes)
    let store = try CallStore(in: folder)
    let reads: [() throws -> Void] = [
      { _ = try store.recents() },
      { _ = try store.favourites() },
      { _ = try store.standing(of: "+18775555555") },
      { _ = try store.knownPeer(at: "alice@192.0.2.7") },
      { _ = try store.knownIdentities() },
    ]
    var errors: [any Error] = []
    for read in reads {
      do { try read() } catch { errors.append(error) }
    }
    #expect(!errors.isEmpty && errors.allSatisfy { $0 as? CallStoreError == .damaged })
  }
}
