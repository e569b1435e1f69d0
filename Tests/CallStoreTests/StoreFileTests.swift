import Foundation
import GRDB
import Testing

@testable import CallStore

/// The store's file: shared, moved to this release, damaged.
struct StoreFileTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("store-\(UUID().uuidString)")

  private var file: URL { folder.appendingPathComponent("calls.sqlite") }

  // MARK: Lists

  @Test func settingsAreKeptFromOneStartToTheNext() throws {
    do {
      let store = try CallStore(in: folder)
      #expect(try !store.doesNotDisturb() && store.chosenDevice(.microphone) == nil)
      try store.setDoesNotDisturb(true)
      try store.setChosenDevice(.microphone, "hw:1,0 é")
    }
    let store = try CallStore(in: folder)
    #expect(try store.doesNotDisturb())
    #expect(try store.chosenDevice(.microphone) == "hw:1,0 é")
    #expect(try store.chosenDevice(.loudspeaker) == nil, "each side is chosen by itself")
    try store.setDoesNotDisturb(false)
    #expect(try !store.doesNotDisturb())
  }

  @Test func folderThatCannotBeUsedIsNamedInASentence() {
    let expected = "cannot use the folder /dev/null/x: Not a directory; set XDG_DATA_HOME"
    #expect {
      _ = try CallStore(in: URL(fileURLWithPath: "/dev/null/x"))
    } throws: {
      "\($0)".hasPrefix(expected)
    }
  }

  @Test func favouritesAreSortedRenamedAndRemoved() throws {
    let store = try CallStore(in: folder)
    for (handle, name) in [("sip:c@h", "Carol"), ("sip:a@h", "Alice"), ("sip:b@h", "Bob")] {
      try store.add(Favourite(handle: handle, name: name))
    }
    #expect(try store.favourites().map(\.name) == ["Alice", "Bob", "Carol"])
    try store.add(Favourite(handle: "sip:a@h", name: "Zoë"))
    #expect(try store.favourites().map(\.name) == ["Bob", "Carol", "Zoë"])
    #expect(try store.removeFavourite("sip:b@h") && !store.removeFavourite("sip:b@h"))
    #expect(try store.favourites().map(\.handle) == ["sip:c@h", "sip:a@h"])
  }

  @Test func textOfAnyKindIsData() throws {
    let store = try CallStore(in: folder)
    let hostile = "sip:x'); DROP TABLE blocked; --@h"
    try store.block(hostile)
    try store.add(Favourite(handle: hostile, name: "\u{0}\u{1F600}'\""))
    #expect(try store.standing(of: hostile).isBlocked)
    #expect(try store.favourites().count == 1 && store.blocked().count == 1)
    #expect(try store.unblock(hostile) && !store.standing(of: hostile).isBlocked)
  }

  @Test func twoProgramsSeeEachOthersChanges() throws {
    let one = try CallStore(in: folder)
    let other = try CallStore(in: folder)
    try one.block("sip:eve@h")
    #expect(try other.standing(of: "SIP:Eve@h").isBlocked)
    try other.setDoesNotDisturb(true)
    #expect(try one.standing(of: "sip:bob@h").isSilenced)
    #expect(try other.unblock("sip:eve@h"))
    #expect(try one.blocked() == [])
  }

  // MARK: The file

  @Test func storeOfAnEarlierReleaseIsMovedToThisOne() throws {
    do {
      let store = try CallStore(in: folder)
      try store.block("sip:eve@h")
    }
    // As the first release left it: without what the second and the fourth to fifth brought.
    try DatabaseQueue(path: file.path).write { database in
      try database.execute(sql: "ALTER TABLE recent DROP COLUMN can_be_called_back")
      try database.execute(sql: "ALTER TABLE recent DROP COLUMN is_read")
      try database.execute(sql: "DROP TABLE host")
      try database.execute(sql: "DELETE FROM grdb_migrations WHERE identifier IN ('2', '4', '5')")
    }
    let store = try CallStore(in: folder)
    #expect(try store.blocked() == ["eve@h"], "what was there is kept")
    let columns = try store.database.read { try $0.columns(in: "recent").map(\.name) }
    #expect(columns.contains("can_be_called_back") && columns.contains("is_read"))
    #expect(try store.knownHosts() == [])
  }

  @Test func damagedFileIsAnErrorAndStaysAsItIs() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let garbage = Data((0..<8_192).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try garbage.write(to: file)
    #expect(throws: (any Error).self) { try CallStore(in: folder) }
    #expect(try Data(contentsOf: file) == garbage, "it can still be repaired by hand")
  }

  @Test func folderThatCannotBeMadeIsAnError() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let blocker = folder.appendingPathComponent("file")
    try Data().write(to: blocker)
    #expect(throws: (any Error).self) {
      try CallStore(in: blocker.appendingPathComponent("sidetone"))
    }
  }

  @Test func fileThatAnotherProgramLeftOpenToOthersIsStillOnlyTheUsers() throws {
    _ = try CallStore(in: folder)
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.path)
    #expect(attributes[.posixPermissions] as? Int == 0o700)
  }
}
