import Foundation
import Testing

@testable import CallSecurity

struct FingerprintTests {
  @Test func itsTextIsReadBack() throws {
    let fingerprint = try Identity.make().fingerprint
    #expect(Fingerprint(fingerprint.description) == fingerprint)
    #expect(Fingerprint(fingerprint.description.lowercased()) == fingerprint)
    #expect(Fingerprint(attribute: fingerprint.attribute) == fingerprint)
    #expect(Fingerprint(attribute: "SHA-256 \(fingerprint)") == fingerprint)
    #expect(fingerprint.words.split(separator: " ").count == 10)
  }

  @Test(arguments: [
    "", "AB", "sha-1 AB:CD", "sha-256", "sha-256 AB:CD",
    "sha-256 " + String(repeating: "G0:", count: 32),
    "sha-256 " + String(repeating: "00:", count: 32),
  ])
  func otherTextIsNone(text: String) {
    #expect(Fingerprint(attribute: text) == nil && Fingerprint(text) == nil)
  }
}

struct WordListTests {
  private static func distance(_ one: String, _ other: String) -> Int {
    let letters = Array(other)
    var row = Array(0...letters.count)
    for (place, letter) in one.enumerated() {
      var next = [place + 1]
      for (index, found) in letters.enumerated() {
        let replaced = row[index] + (letter == found ? 0 : 1)
        next.append(min(row[index + 1] + 1, next[index] + 1, replaced))
      }
      row = next
    }
    return row[letters.count]
  }

  /// A misheard word must not turn into another one of the list.
  @Test func thereAre256WordsThatDiffer() {
    let words = WordList.words
    #expect(words.count == 256 && Set(words).count == 256)
    for (index, word) in words.enumerated() {
      #expect((4...9).contains(word.count) && word.allSatisfy { ("a"..."z").contains($0) })
      for other in words[..<index] { #expect(Self.distance(word, other) > 1, "\(word) \(other)") }
    }
  }
}

/// A folder of one test, removed with it.
private final class Folder {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")

  deinit { try? FileManager.default.removeItem(at: url) }

  var file: URL { url.appendingPathComponent("identity.pem") }

  var mode: Int? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
    return (attributes?[.posixPermissions] as? NSNumber)?.intValue
  }
}

struct IdentityFileTests {
  @Test func anIdentityIsMadeOnceAndKept() throws {
    let folder = Folder()
    let first = try IdentityFile(in: folder.url).load()
    #expect(try IdentityFile(in: folder.url).load().fingerprint == first.fingerprint)
    #expect(folder.mode == 0o600)
    let renewed = try IdentityFile(in: folder.url).renew()
    #expect(renewed.fingerprint != first.fingerprint)
    #expect(try IdentityFile(in: folder.url).load().fingerprint == renewed.fingerprint)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 1)
  }

  @Test(arguments: [0o640, 0o604, 0o660, 0o644])
  func aFileThatOthersCanReadIsRefused(mode: Int) throws {
    let folder = Folder()
    _ = try IdentityFile(in: folder.url).load()
    try FileManager.default.setAttributes(
      [.posixPermissions: mode],
      ofItemAtPath: folder.file.path
    )
    let error = #expect(throws: IdentityError.self) { try IdentityFile(in: folder.url).load() }
    #expect(error?.description.contains("chmod 600 \(folder.file.path)") == true)
  }

  @Test(arguments: ["", "no key", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
  func aDamagedFileIsRefusedAndRenewed(text: String) throws {
    let folder = Folder()
    _ = try IdentityFile(in: folder.url).load()
    try Data(text.utf8).write(to: folder.file)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o600],
      ofItemAtPath: folder.file.path
    )
    #expect(throws: IdentityError.damagedFile(path: folder.file.path)) {
      try IdentityFile(in: folder.url).load()
    }
    let renewed = try IdentityFile(in: folder.url).renew()
    #expect(try IdentityFile(in: folder.url).load().fingerprint == renewed.fingerprint)
  }

  /// A key and the certificate of another one are no identity.
  @Test func partsOfTwoIdentitiesAreNone() throws {
    let one = String(decoding: try Identity.make().pem, as: UTF8.self)
    let other = String(decoding: try Identity.make().pem, as: UTF8.self)
    let begin = "-----BEGIN CERTIFICATE-----"
    let key = try #require(one.components(separatedBy: begin).first)
    let certificate = try #require(other.components(separatedBy: begin).last)
    #expect(throws: IdentityError.damaged) {
      try Identity(pem: Array((key + begin + certificate).utf8))
    }
  }

  /// An encrypted key is refused, since OpenSSL would ask for its passphrase at the terminal.
  @Test func anEncryptedKeyIsRefused() throws {
    let pem = String(decoding: try Identity.make().pem, as: UTF8.self)
    let begin = "-----BEGIN CERTIFICATE-----"
    let certificate = try #require(pem.components(separatedBy: begin).last)
    let key = """
      -----BEGIN EC PRIVATE KEY-----
      Proc-Type: 4,ENCRYPTED
      DEK-Info: AES-128-CBC,000102030405060708090A0B0C0D0E0F

      AAAAAAAAAAAAAAAAAAAAAA==
      -----END EC PRIVATE KEY-----

      """
    #expect(throws: IdentityError.damaged) {
      try Identity(pem: Array((key + begin + certificate).utf8))
    }
  }

  /// Programs that start at once come to one identity.
  @Test func manyStartsMakeOne() async throws {
    let folder = Folder()
    let url = folder.url
    let found = try await withThrowingTaskGroup(of: Fingerprint.self) { group in
      for _ in 0..<20 { group.addTask { try IdentityFile(in: url).load().fingerprint } }
      return try await group.reduce(into: Set<Fingerprint>()) { $0.insert($1) }
    }
    #expect(found.count == 1)
    withExtendedLifetime(folder) {}
  }
}
