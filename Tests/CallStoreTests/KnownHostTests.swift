import Foundation
import Testing

@testable import CallStore

struct KnownHostTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")

  private func date(_ seconds: Int) -> Date { Date(timeIntervalSince1970: Double(seconds)) }

  @Test func theLastHostsAreRemembered() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    do {
      let store = try CallStore(in: folder)
      for host in 0..<300 { try store.noteHost("192.0.2.\(host)", on: date(host)) }
      // It has called again.
      try store.noteHost("192.0.2.100", on: date(1_000))
      // The clock was set back.
      try store.noteHost("198.51.100.1", on: date(5))
    }
    let hosts = try CallStore(in: folder).knownHosts()
    #expect(hosts.count == 256)
    #expect(hosts.first == "192.0.2.45")
    #expect(hosts.suffix(2) == ["192.0.2.100", "198.51.100.1"])
  }

  @Test func clearedRecentsLeaveNoHost() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try CallStore(in: folder)
    try store.noteHost("192.0.2.1", on: date(1))
    try store.clearRecents()
    #expect(try store.knownHosts() == [])
  }
}
