import Foundation
import Testing

@testable import CallStore

struct KnownPeerTests {
  private let store: CallStore
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")

  init() throws {
    store = try CallStore(in: folder)
  }

  private func date(_ seconds: Double) -> Date { Date(timeIntervalSince1970: seconds) }

  @Test func anIdentityIsRememberedByItsAddress() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(try store.knownPeer(at: "bob@h") == nil)
    try store.remember(peerAt: "bob@h", fingerprint: "AA", at: date(1))
    try store.remember(peerAt: "bob@i", fingerprint: "AA", at: date(2))
    #expect(try store.knownPeer(at: "bob@h") == .identity("AA", isVerified: false))
    let identities = try store.knownIdentities()
    #expect(identities.map(\.addresses) == [["bob@h", "bob@i"]])
    #expect(identities.first?.firstSeen == date(1))
  }

  /// Only the user accepts another one, by forgetting the first.
  @Test func aRememberedIdentityIsNotReplaced() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try store.remember(peerAt: "bob@h", fingerprint: "AA", at: date(1))
    try store.remember(peerAt: "bob@h", fingerprint: "BB", at: date(2))
    try store.remember(peerAt: "bob@h", fingerprint: nil, at: date(3))
    #expect(try store.knownPeer(at: "bob@h") == .identity("AA", isVerified: false))
    #expect(try store.forgetPeer(at: "bob@h"))
    #expect(try !store.forgetPeer(at: "bob@h"))
    #expect(try store.knownPeer(at: "bob@h") == nil && store.knownIdentities().isEmpty)
  }

  @Test func aFarSideWithoutIdentityIsRememberedAsEncrypted() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try store.remember(peerAt: "bob@h", fingerprint: nil, at: date(1))
    #expect(try store.knownPeer(at: "bob@h") == .encrypted)
    #expect(try store.addressesWithoutIdentity() == ["bob@h"])
    try store.remember(peerAt: "bob@h", fingerprint: "AA", at: date(2))
    #expect(try store.knownPeer(at: "bob@h") == .identity("AA", isVerified: false))
  }

  @Test func namesAndVerificationBelongToTheIdentity() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try store.remember(peerAt: "bob@h", fingerprint: "AA", at: date(1))
    #expect(try store.setVerified("AA", at: date(5)) && store.setName(of: "AA", to: "Bob"))
    #expect(try !store.setVerified("BB", at: date(5)) && !store.setName(of: "BB", to: "Bob"))
    try store.remember(peerAt: "bob@i", fingerprint: "AA", at: date(6))
    #expect(try store.knownPeer(at: "bob@i") == .identity("AA", isVerified: true))
    let identity = try #require(store.knownIdentities().first)
    #expect(identity.name == "Bob" && identity.verified == date(5))
    #expect(try store.setVerified("AA", at: nil))
    #expect(try store.knownPeer(at: "bob@i") == .identity("AA", isVerified: false))
  }
}
