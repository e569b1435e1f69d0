import CallSecurity
import DesktopServices
import Foundation

/// The passwords of accounts: in the desktop's keyring if there is one, or else in a file that only
/// the user can read.
///
/// **Thread safety:** a value; every method may be called from any thread, and blocks.
struct PasswordStore: Sendable {
  private let file: PrivateFile
  private let keyring: SecretService?

  /// Opens the passwords in a folder, and in the keyring of this session.
  init(in folder: URL, keyring: SecretService? = SecretService()) {
    file = PrivateFile("passwords.json", in: folder)
    self.keyring = keyring
  }

  /// Returns the password of an account; nil if none is stored.
  ///
  /// Throws an `IdentityError` if the file is readable by others, or cannot be read.
  func password(of address: String) throws -> String? {
    // What is in the file was set where there was no keyring, and is newer.
    if let found = try passwords()[address] { return found }
    return keyring?.secret(with: Self.attributes(address))
  }

  /// Stores a password in the keyring, or else in the file, and returns the place in words.
  ///
  /// Throws an `IdentityError` if the file cannot be read or written.
  func set(_ password: String, of address: String) throws -> String {
    let label = "Sidetone: \(address)"
    if let keyring, keyring.set(password, label: label, attributes: Self.attributes(address)) {
      try change { $0[address] = nil }
      return "in the desktop's keyring"
    }
    try change { $0[address] = password }
    return "in \(file.path), which only you can read"
  }

  /// Forgets a password.
  ///
  /// Throws an `IdentityError` if the file cannot be written.
  func remove(_ address: String) throws {
    keyring?.remove(with: Self.attributes(address))
    try change { $0[address] = nil }
  }

  // What the keyring finds it by.
  private static func attributes(_ address: String) -> [String: String] {
    ["xdg:schema": "org.sidetone.Account", "account": address]
  }

  private func passwords() throws(IdentityError) -> [String: String] {
    guard let bytes = try file.read() else { return [:] }
    do {
      return try JSONDecoder().decode([String: String].self, from: Data(bytes))
    } catch {
      throw .inaccessible(path: file.path, reason: "it is damaged")
    }
  }

  private func change(_ body: (inout [String: String]) -> Void) throws(IdentityError) {
    try file.withLock { () throws(IdentityError) in
      let before = try passwords()
      var after = before
      body(&after)
      guard after != before else { return }
      do {
        try file.write(Array(JSONEncoder().encode(after)))
      } catch let error as IdentityError {
        throw error
      } catch {
        throw .inaccessible(path: file.path, reason: "\(error)")
      }
    }
  }
}
