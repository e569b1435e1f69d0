import CallStore
import Foundation
import Synchronization
import Testing

/// Lists, recents and the directory over a real file.
struct CallStoreTests {
  private static func folder() -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID().uuidString)")
  }

  private let folder = Self.folder()
  private let store: CallStore

  init() throws {
    store = try CallStore(in: folder)
  }

  private func load(_ entries: [DirectoryEntry], extension identifier: String = "x") throws {
    var rest = entries[...]
    try store.load(identifier) { rest.popFirst() }
  }

  private func enable(_ identifier: String = "x") throws {
    try store.setExtension(identifier, isEnabled: true)
  }

  @Test func onlyTheUserMayReadTheFile() throws {
    for (name, mode) in [("", 0o700), ("calls.sqlite", 0o600)] {
      let path = folder.appendingPathComponent(name).path
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode, "\(path)")
    }
  }

  @Test func severalProgramsMayMakeTheFileAtOnce() {
    for _ in 0..<20 {
      let fresh = Self.folder()
      let failures = Mutex<[String]>([])
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        do { _ = try CallStore(in: fresh) } catch { failures.withLock { $0.append("\(error)") } }
      }
      #expect(failures.withLock { $0 } == [])
      try? FileManager.default.removeItem(at: fresh)
    }
  }

  @Test func R104_recentsAreKeptNewestFirstUpToALimit() throws {
    for index in 0..<(CallStore.recentLimit + 5) {
      try store.add(
        RecentCall(
          call: UUID(),
          app: "test",
          handleKind: 1,
          handle: "sip:bob\(index)@host",
          name: "Bob",
          isOutgoing: index % 2 == 0,
          started: Date(timeIntervalSince1970: 1_000),
          connected: index % 3 == 0 ? Date(timeIntervalSince1970: 1_010) : nil,
          ended: Date(timeIntervalSince1970: 1_020),
          result: "talked",
          canBeCalledBack: index % 5 == 0
        )
      )
    }
    let again = try CallStore(in: folder).recents()
    #expect(again.count == CallStore.recentLimit)
    #expect(again.first?.handle == "sip:bob\(CallStore.recentLimit + 4)@host")
    #expect(again.filter(\.canBeCalledBack).count == CallStore.recentLimit / 5)
    #expect(again.first?.ended == Date(timeIntervalSince1970: 1_020))
    try store.clearRecents()
    #expect(try store.recents().isEmpty)
  }

  @Test func resultsAreToldInWords() {
    var recent = RecentCall(
      call: UUID(),
      app: "test",
      handleKind: 1,
      handle: "sip:bob@host",
      name: "Bob",
      isOutgoing: false,
      started: Date(timeIntervalSince1970: 1_000),
      connected: nil,
      ended: Date(timeIntervalSince1970: 1_020),
      result: "missed",
      canBeCalledBack: true
    )
    #expect(recent.resultInWords == "missed")
    recent.result = "answeredElsewhere"
    #expect(recent.resultInWords == "answered elsewhere")
  }

  @Test func R40_blockedHandlesAreFoundInEverySpelling() throws {
    try store.block("+1 (408) 555-5555")
    try store.block("sip:Eve@Example.org")
    for handle in [
      "tel:+14085555555", "14085555555", "sip:+14085555555@gate.example.org;user=phone",
    ] {
      #expect(try store.standing(of: handle).isBlocked, "\(handle)")
    }
    #expect(try store.standing(of: "SIP:eve@example.org").isBlocked)
    #expect(try !store.standing(of: "sip:eve@example.com").isBlocked)
    #expect(try store.blocked() == ["14085555555", "eve@example.org"])
    #expect(try store.unblock("eve@example.org") && !store.unblock("nobody"))
    #expect(try !store.standing(of: "sip:eve@example.org").isBlocked)
  }

  @Test func R40_favouritesMayDisturb() throws {
    #expect(try !store.standing(of: "sip:bob@host").isSilenced)
    try store.setDoesNotDisturb(true)
    try store.add(Favourite(handle: "sip:alice@host", name: "Alice"))
    #expect(try store.standing(of: "sip:bob@host").isSilenced)
    #expect(try !store.standing(of: "sip:Alice@host").isSilenced)
    #expect(try store.favourites() == [Favourite(handle: "sip:alice@host", name: "Alice")])
    #expect(try store.removeFavourite("sip:alice@host"))
    try store.setDoesNotDisturb(false)
    #expect(try !store.standing(of: "sip:bob@host").isSilenced)
  }

  @Test func R109_entriesCountWhileTheirExtensionIsEnabled() throws {
    try enable()
    try load([
      .block(14_085_555_555), .block(18_005_555_555), .identify(18_775_555_555, "Telemarketer"),
      .identify(18_885_555_555, "Local business"),
    ])
    #expect(try store.standing(of: "+1 408 555 5555").isBlocked)
    #expect(try store.standing(of: "+18775555555").label == "Telemarketer")
    try store.setExtension("x", isEnabled: false)
    #expect(try !store.standing(of: "+14085555555").isBlocked)
    #expect(try store.standing(of: "+18775555555").label == nil)
  }

  @Test func R109_brokenRulesLeaveTheOldData() throws {
    try enable()
    try load([.block(5), .identify(7, "old")])
    let faults: [([DirectoryEntry], DirectoryFault)] = [
      ([.block(9), .block(8)], .entriesOutOfOrder), ([.block(9), .block(9)], .duplicateEntries),
      ([.identify(9, "a"), .identify(8, "a")], .entriesOutOfOrder),
      ([.identify(9, "a"), .identify(9, "a")], .duplicateEntries),
      ([.block(-5)], .noNumber), ([.identify(.max, "a")], .noNumber),
      ([.unblock(5)], .unexpectedIncrementalRemoval),
      ([.block(1), .readsIncremental, .unblockAll], .unexpectedIncrementalRemoval),
    ]
    for (entries, fault) in faults {
      #expect(throws: fault) { try load(entries) }
      #expect(try store.entryCounts(of: "x") == (1, 1))
      #expect(try store.standing(of: "000000000005").isBlocked)
    }
    try load([.identify(9, "a"), .identify(9, "b")])
    #expect(try store.entryCounts(of: "x") == (0, 2))
  }

  @Test func R109_interruptedLoadLeavesTheOldData() throws {
    struct Crash: Error {}
    try enable()
    try load([.block(500)])
    var number: Int64 = 0
    #expect(throws: Crash.self) {
      try store.load("x") {
        number += 1
        if number > 10_000 { throw Crash() }
        return .block(number)
      }
    }
    #expect(try store.entryCounts(of: "x") == (1, 0))
    #expect(try store.standing(of: "500").isBlocked)
  }

  @Test func R110_incrementalLoadsChangeAndOthersReplace() throws {
    try enable()
    // Never loaded: there is nothing to change.
    #expect(throws: DirectoryFault.unexpectedIncrementalRemoval) {
      try load([.readsIncremental, .unblock(1)])
    }
    try load([
      .readsIncremental, .block(100), .block(200), .identify(300, "a"), .identify(300, "b"),
    ])
    try load([.readsIncremental, .unblock(100), .block(150), .unidentify(300)])
    #expect(try store.entryCounts(of: "x") == (2, 0))
    try load([.readsIncremental])
    #expect(try store.entryCounts(of: "x") == (2, 0))
    try load([.readsIncremental, .unblockAll, .identify(900, "c")])
    #expect(try store.entryCounts(of: "x") == (0, 1))
    try load([.block(7)])
    #expect(try store.entryCounts(of: "x") == (1, 0))
    try load([])
    #expect(try store.entryCounts(of: "x") == (0, 0))
  }

  @Test func extensionsDoNotTouchOneAnother() throws {
    try enable("x")
    try enable("y")
    try load([.block(100)], extension: "x")
    try load([.block(100), .block(200)], extension: "y")
    try load([], extension: "y")
    #expect(try store.standing(of: "100").isBlocked && !store.standing(of: "200").isBlocked)
  }

  @Test(arguments: [
    ("+1 (408) 555-5555", 14_085_555_555), ("tel:+43-1-234", 431_234), ("sip:112@h", 112),
    ("0301234567", 301_234_567),
  ])
  func numbersHaveOneForm(text: String, number: Int64) {
    #expect(CallerNumber.normalized(text) == number)
  }

  @Test(arguments: ["sip:bob@host", "", "12", "+", "1234567890123456789", "555-CALL"])
  func otherTextsAreNoNumbers(text: String) {
    #expect(CallerNumber.normalized(text) == nil)
  }
}
