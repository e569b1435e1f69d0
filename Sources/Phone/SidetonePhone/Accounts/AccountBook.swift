import CallSecurity
import CallStore
public import Foundation
import FoundationAdditions
public import SIPSignalling

/// The user's accounts, in `sidetone/accounts.json` under XDG_CONFIG_HOME, without their passwords.
///
/// The order is kept: numbers and bare names are called with the first account.
///
/// **Thread safety:** a value; the file is read and written by each method.
public struct AccountBook: Sendable {
  /// An account as it is stored in the file.
  private struct Entry: Codable {
    var address: String
    var name: String?
    var login: String?
    var server: String?
    var connection: String?
    var certificate: String?
    var expires: Int?
    var stun: String?
    var turn: String?
    var turnLogin: String?
  }

  private struct Contents: Codable {
    var accounts: [Entry] = []
  }

  private let file: URL
  private let passwords: PasswordStore

  /// The folder of the user's settings, `sidetone` under XDG_CONFIG_HOME.
  public static var folderOfUser: URL {
    BaseFolder.config.url().appendingPathComponent("sidetone")
  }

  /// The user's own book.
  public static var ofUser: AccountBook {
    AccountBook(
      file: folderOfUser.appendingPathComponent("accounts.json"),
      passwords: PasswordStore(in: CallStore.defaultFolder)
    )
  }

  init(file: URL, passwords: PasswordStore) {
    self.file = file
    self.passwords = passwords
  }

  /// Returns the accounts with their passwords, in the order of the file; empty if there is no
  /// file.
  ///
  /// Blocks while the keyring is queried, which may prompt the user. Throws a `PhoneError` if the
  /// file is damaged, a `SIPError` if an account is, or the error that keeps the passwords from
  /// being read.
  public func accounts() throws -> [SIPAccount] {
    try contents().accounts.map { entry in
      try account(entry)
    }
  }

  private func account(_ entry: Entry) throws -> SIPAccount {
    let password = try passwords.password(of: entry.address) ?? ""
    var account = try SIPAccount(entry.address, server: entry.server, password: password)
    try account.setSTUNServer(entry.stun)
    account.relay = try entry.turn.map { try RelayServer($0, login: entry.turnLogin ?? "") }
    if let relay = account.relay {
      account.relay?.password = try passwords.password(of: Self.key(of: relay)) ?? password
    }
    account.displayName = entry.name
    if let login = entry.login { account.login = login }
    if let text = entry.connection {
      guard let connection = SIPAccount.Connection(rawValue: text) else {
        throw damaged("\"\(text)\" is no connection: tls, tcp, udp or discovered")
      }
      account.connection = connection
    }
    if let text = entry.certificate {
      guard let certificate = Fingerprint(text) else {
        throw damaged("\"\(text)\" is no SHA-256 fingerprint")
      }
      account.certificate = certificate
    }
    if let expires = entry.expires { account.expires = expires }
    return account
  }

  /// Adds an account with its password, or replaces the one of the same address.
  ///
  /// - Returns: the place of the password, in words.
  /// - Throws: the error that keeps the book or the password from being written.
  @discardableResult
  public func add(_ account: SIPAccount) throws -> String {
    // A damaged book leaves the passwords as they are.
    _ = try contents()
    let entry = Entry(
      address: account.address,
      name: account.displayName,
      login: account.login,
      server: account.server,
      connection: account.connection.rawValue,
      certificate: account.certificate?.description,
      expires: account.expires,
      stun: account.stunServer,
      turn: account.relay?.uri,
      turnLogin: account.relay?.login
    )
    let place = try passwords.set(account.password, of: account.address)
    if let relay = account.relay { _ = try passwords.set(relay.password, of: Self.key(of: relay)) }
    let unused = try change { contents in
      if let index = contents.accounts.firstIndex(where: { $0.address == account.address }) {
        contents.accounts[index] = entry
      } else {
        contents.accounts.append(entry)
      }
    }
    for key in unused { try passwords.remove(key) }
    return place
  }

  /// Removes an account with its password, and that of its relay unless another account uses it
  /// too.
  ///
  /// Throws a `PhoneError` if there is none of that address, or the error that keeps the book from
  /// being written.
  public func remove(_ address: String) throws {
    let account = try accounts().named(address)
    let unused = try change { contents in
      contents.accounts.removeAll { $0.address == account.address }
    }
    for key in [account.address] + unused { try passwords.remove(key) }
  }

  /// Changes the book while no other program does.
  ///
  /// Passwords must not be changed in `body`: the lock of their folder may be the same.
  ///
  /// - Returns: the keys of passwords that no account's relay needs any more.
  private func change(_ body: (inout Contents) -> Void) throws -> Set<String> {
    let book = PrivateFile(file.lastPathComponent, in: file.deletingLastPathComponent())
    return try book.withLock { () -> Result<Set<String>, any Error> in
      Result {
        var contents = try self.contents()
        let before = Self.keysOfRelays(in: contents)
        body(&contents)
        try book.write(Self.encoded(contents))
        return before.subtracting(Self.keysOfRelays(in: contents))
      }
    }.get()
  }

  private static func keysOfRelays(in contents: Contents) -> Set<String> {
    Set(
      contents.accounts.compactMap { entry in
        // What is no URI has no password.
        entry.turn.flatMap { try? RelayServer($0, login: entry.turnLogin ?? "") }.map(key)
      }
    )
  }

  // By what the password of a relay is kept; several accounts may share one.
  private static func key(of relay: RelayServer) -> String { "\(relay.login) \(relay.uri)" }

  private func contents() throws -> Contents {
    guard FileManager.default.fileExists(atPath: file.path) else { return Contents() }
    let data = try Data(contentsOf: file)
    do {
      return try JSONDecoder().decode(Contents.self, from: data)
    } catch {
      throw damaged("it is not as \"sidetone account add\" writes it")
    }
  }

  private func damaged(_ reason: String) -> PhoneError {
    PhoneError.unusableFile(file.path, reason: reason)
  }

  private static func encoded(_ contents: Contents) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try Array(encoder.encode(contents))
  }
}
