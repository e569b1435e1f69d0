import CallSecurity
import Foundation
import SIPSignalling
import Testing

@testable import SidetonePhone

/// Choice of the account for a call, and storage of accounts.
struct AccountTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("sidetone-accounts-\(UUID().uuidString)")

  private var book: AccountBook {
    AccountBook(
      file: folder.appendingPathComponent("config/accounts.json"),
      passwords: PasswordStore(in: folder.appendingPathComponent("data"), keyring: nil)
    )
  }

  private func accounts() throws -> [SIPAccount] {
    [
      try SIPAccount("alice@example.org", password: "a"),
      try SIPAccount("sip:al@office.example:5070", password: "b"),
    ]
  }

  private func choice(_ text: String, _ account: String? = nil) throws -> [String] {
    let choice = try AccountChoice(text, account, among: accounts())
    return [choice.address.uri, choice.account?.address ?? "none"]
  }

  @Test(arguments: [
    ("sip:bob@example.org", "sip:bob@example.org", "sip:alice@example.org"),
    ("bob@example.org", "sip:bob@example.org", "sip:alice@example.org"),
    ("sip:bob@EXAMPLE.org", "sip:bob@EXAMPLE.org", "sip:alice@example.org"),
    ("bob", "sip:bob@example.org", "sip:alice@example.org"),
    ("+49 (30) 123-45", "sip:+493012345@example.org", "sip:alice@example.org"),
    ("tel:112", "sip:112@example.org", "sip:alice@example.org"),
    ("sip:bob@office.example:5070", "sip:bob@office.example:5070", "sip:al@office.example:5070"),
    ("sip:bob@192.0.2.1", "sip:bob@192.0.2.1", "none"),
    ("bob@elsewhere.example", "sip:bob@elsewhere.example", "none"),
    ("sip:bob@example.org;transport=udp", "sip:bob@example.org", "none"),
  ])
  func accountFollowsFromWhomOneCalls(text: String, uri: String, account: String) throws {
    #expect(try choice(text) == [uri, account])
  }

  @Test func accountThatIsNamedIsTaken() throws {
    #expect(
      try choice("bob", "al@office.example:5070")
        == ["sip:bob@office.example:5070", "sip:al@office.example:5070"]
    )
    #expect(
      try choice("sip:bob@192.0.2.1", "alice@example.org")
        == ["sip:bob@192.0.2.1", "sip:alice@example.org"]
    )
    #expect(throws: PhoneError.self) { try choice("bob", "eve@example.org") }
  }

  @Test func bareNameWithoutAnAccountIsRefusedInWords() {
    let error = #expect(throws: PhoneError.self) { try AccountChoice("bob", nil, among: []) }
    #expect(error?.description.contains("write sip:NAME@HOST") == true)
  }

  @Test(arguments: ["", "alice", "@example.org", "sip:example.org", "http://a@b", "a@b c"])
  func noAccountIsMadeOfNonsense(address: String) {
    #expect(throws: SIPError.self) { try SIPAccount(address, password: "") }
  }

  @Test func bookKeepsEverythingButThePassword() throws {
    defer { try? FileManager.default.removeItem(at: folder) }  // The system clears it.
    #expect(try book.accounts().isEmpty)
    var account = try SIPAccount("alice@example.org", server: "sip.example.org", password: "päss")
    account.login = "al"
    account.displayName = "Alice"
    account.connection = .discovered
    account.certificate = Fingerprint(Array(repeating: "AB", count: 32).joined(separator: ":"))
    account.expires = 300
    try book.add(account)
    try book.add(SIPAccount("b@example.org", password: "x"))
    #expect(try book.accounts().first == account)
    let text = try String(contentsOfFile: folder.path + "/config/accounts.json", encoding: .utf8)
    #expect(!text.contains("päss"))
    let passwords = folder.path + "/data/passwords.json"
    let mode = try FileManager.default.attributesOfItem(atPath: passwords)[.posixPermissions]
    #expect(mode as? Int == 0o600)

    account.password = "new"
    try book.add(account)
    #expect(try book.accounts().map(\.password) == ["new", "x"])
    try book.remove("alice@EXAMPLE.org")
    #expect(throws: PhoneError.self) { try book.remove("alice@example.org") }
    #expect(try book.accounts().map(\.address) == ["sip:b@example.org"])
    let left = try String(contentsOfFile: passwords, encoding: .utf8)
    #expect(!left.contains("new"))
  }

  @Test func fileOfPasswordsThatOthersReadIsRefused() throws {
    defer { try? FileManager.default.removeItem(at: folder) }  // The system clears it.
    try book.add(SIPAccount("alice@example.org", password: "secret"))
    let passwords = folder.path + "/data/passwords.json"
    unsafe chmod(passwords, 0o640)
    let error = #expect(throws: IdentityError.self) { try book.accounts() }
    #expect(error?.description.contains("chmod 600 \(passwords)") == true)
  }

  @Test func damagedBookIsNamed() throws {
    defer { try? FileManager.default.removeItem(at: folder) }  // The system clears it.
    try book.add(SIPAccount("alice@example.org", password: "secret"))
    let file = folder.appendingPathComponent("config/accounts.json")
    for text in ["", "{", #"{"accounts":[{"address":"a@b","connection":"pigeon"}]}"#] {
      try text.write(to: file, atomically: true, encoding: .utf8)
      #expect(throws: PhoneError.self) { try book.accounts() }
    }
  }

  @Test func relaysPasswordGoesWithTheLastAccountThatHasIt() throws {
    defer { try? FileManager.default.removeItem(at: folder) }  // The system clears it.
    var alice = try SIPAccount("alice@example.org", password: "a")
    alice.relay = try RelayServer("turn:relay.example.org", login: "al", password: "relayed")
    var bob = try SIPAccount("bob@example.org", password: "b")
    bob.relay = alice.relay
    for account in [alice, bob] { try book.add(account) }
    func isKept() throws -> Bool {
      try String(contentsOfFile: folder.path + "/data/passwords.json", encoding: .utf8)
        .contains("relayed")
    }
    try book.remove("alice@example.org")
    #expect(try isKept() && book.accounts().first?.relay?.password == "relayed")
    bob.relay = nil
    try book.add(bob)
    #expect(try !isKept(), "the account has no relay any more")
    try book.add(alice)
    try book.remove("alice@example.org")
    #expect(try !isKept())
  }

  @Test func bookIsReadByItsOwnerAlone() throws {
    defer { try? FileManager.default.removeItem(at: folder) }  // The system clears it.
    try book.add(SIPAccount("alice@example.org", password: "a"))
    let files = try #require(FileManager.default.enumerator(atPath: folder.path))
    var count = 0
    for case let path as String in files where path.hasSuffix(".json") {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + path)
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(path)")
      count += 1
    }
    #expect(count == 2, "accounts and passwords")
  }

  @Test func accountsThatAreAddedAtOnceAreAllKept() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }  // The system clears it.
    let names = (0..<20).map { "user\($0)@example.org" }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for name in names {
        group.addTask { [book] in _ = try book.add(SIPAccount(name, password: "x")) }
      }
      try await group.waitForAll()
    }
    #expect(Set(try book.accounts().map(\.address)) == Set(names.map { "sip:\($0)" }))
  }
}
