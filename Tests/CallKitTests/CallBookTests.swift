@testable import CallKit
import CallState
import CallStore
import Foundation
import Testing

/// Data that the call system keeps, and its knowledge of callers.
struct CallBookTests {
  private struct NoDescriptors: Error {}

  @Test func storeThatCouldNotBeOpenedIsTriedAgain() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("store-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try CallStore(in: folder).block("sip:eve@192.0.2.9")
    var attempts = 0
    var book = CallBook {
      attempts += 1
      if attempts == 1 { throw NoDescriptors() }
      return try CallStore(in: folder)
    }
    let eve = CallHandle(kind: .generic, value: "sip:eve@192.0.2.9")
    #expect(!book.screening(of: eve).isBlocked)
    #expect(book.screening(of: eve).isBlocked)
    #expect(book.screening(of: eve).isBlocked)
    #expect(attempts == 2)
  }

  @Test func quietDesktopSilencesAllButFavourites() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("store-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }  // Nobody looks there again.
    let store = try CallStore(in: folder)
    try store.add(Favourite(handle: "sip:alice@192.0.2.7", name: "Alice"))
    var book = CallBook { store }
    func isSilenced(_ address: String, isQuiet: Bool) -> Bool {
      book.screening(of: CallHandle(kind: .generic, value: address), isQuiet: isQuiet).isSilenced
    }
    #expect(isSilenced("sip:eve@192.0.2.9", isQuiet: true))
    #expect(!isSilenced("sip:alice@192.0.2.7", isQuiet: true))
    #expect(!isSilenced("sip:eve@192.0.2.9", isQuiet: false))
    var without = CallBook { throw NoDescriptors() }
    #expect(without.screening(of: nil, isQuiet: true).isSilenced)
  }
}
