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
    try store.remember(KnownPeer(fingerprint: "AA"), at: "bob@h", on: date(1))
    try store.remember(KnownPeer(fingerprint: "AA"), at: "bob@i", on: date(2))
    #expect(try store.knownPeer(at: "bob@h") == KnownPeer(fingerprint: "AA"))
    let identities = try store.knownIdentities()
    #expect(identities.map { $0.addresses.map(\.text) } == [["bob@h", "bob@i"]])
    #expect(identities.first?.firstSeen == date(1))
  }

  /// Only the user can accept another identity, by forgetting the first.
  @Test func aRememberedIdentityIsNotReplaced() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try store.remember(KnownPeer(fingerprint: "AA"), at: "bob@h", on: date(1))
    try store.remember(KnownPeer(fingerprint: "BB"), at: "bob@h", on: date(2))
    try store.remember(KnownPeer(fingerprint: nil), at: "bob@h", on: date(3))
    #expect(try store.knownPeer(at: "bob@h") == KnownPeer(fingerprint: "AA"))
    #expect(try store.forgetPeer(at: "bob@h"))
    #expect(try !store.forgetPeer(at: "bob@h"))
    #expect(try store.knownPeer(at: "bob@h") == nil && store.knownIdentities().isEmpty)
  }

  @Test func aFarSideWithoutIdentityIsRememberedAsEncrypted() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try store.remember(KnownPeer(fingerprint: nil), at: "bob@h", on: date(1))
    #expect(try store.knownPeer(at: "bob@h") == KnownPeer(fingerprint: nil))
    #expect(try store.addressesWithoutIdentity() == ["bob@h"])
    try store.remember(KnownPeer(fingerprint: "AA"), at: "bob@h", on: date(2))
    #expect(try store.knownPeer(at: "bob@h") == KnownPeer(fingerprint: "AA"))
  }

  /// Once it was encrypted, the signalling's certificate is not replaced either.
  @Test func theFirstCertificateOfTheSignallingStays() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try store.remember(KnownPeer(fingerprint: "AA"), at: "bob@h", on: date(1))
    try store.remember(KnownPeer(fingerprint: "AA", signalling: "CC"), at: "bob@h", on: date(2))
    try store.remember(KnownPeer(fingerprint: "AA", signalling: "DD"), at: "bob@h", on: date(3))
    #expect(try store.knownPeer(at: "bob@h")?.signalling == "CC")
  }

  /// The same identity may call itself something else elsewhere: there it is not verified.
  @Test func verificationBelongsToTheAddress() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try store.remember(KnownPeer(fingerprint: "AA"), at: "bob@h", on: date(1))
    #expect(try store.setVerified("AA", address: "bob@h", on: date(5)))
    #expect(try store.setName(of: "AA", to: "Bob") && !store.setName(of: "BB", to: "Bob"))
    #expect(try !store.setVerified("BB", address: "bob@h", on: date(5)))
    try store.remember(KnownPeer(fingerprint: "AA"), at: "bob@i", on: date(6))
    #expect(try store.knownPeer(at: "bob@h")?.isVerified == true)
    #expect(try store.knownPeer(at: "bob@i")?.isVerified == false)
    let identity = try #require(store.knownIdentities().first)
    #expect(identity.name == "Bob" && identity.addresses.map(\.verified) == [date(5), nil])
    #expect(try store.setVerified("AA", address: "bob@h", on: nil))
    #expect(try store.knownPeer(at: "bob@h")?.isVerified == false)
  }
}
