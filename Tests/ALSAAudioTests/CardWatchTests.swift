import Foundation
import Glibc
import Testing

@testable import ALSAAudio

/// Device files that come and go, in a folder of the test's own.
struct CardWatchTests {
  private static func isTold(_ watch: CardWatch) -> Bool {
    var descriptor = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&descriptor, 1, 0) == 1
  }

  @Test func cardsAreNoticedAndTheFirstOneAsWell() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    let cards = folder.appendingPathComponent("snd")
    let control = cards.appendingPathComponent("controlC0").path
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let watch = try #require(CardWatch(folder: folder.path))
    #expect(!Self.isTold(watch))
    // A machine that never had a card has no folder for them.
    try FileManager.default.createDirectory(at: cards, withIntermediateDirectories: false)
    #expect(Self.isTold(watch))
    watch.acknowledge()
    #expect(!Self.isTold(watch))

    #expect(FileManager.default.createFile(atPath: control, contents: nil))
    #expect(Self.isTold(watch))
    watch.acknowledge()
    // The desktop lets its user have it.
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: control)
    #expect(Self.isTold(watch))
    watch.acknowledge()
    try FileManager.default.removeItem(atPath: control)
    #expect(Self.isTold(watch))
  }

  @Test func folderThatIsNotThereIsNotWatched() {
    let missing = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    #expect(CardWatch(folder: missing.path) == nil)
  }
}
