import CallSecurity
import Foundation

/// The passwords of accounts: in the desktop's keyring if there is one, or else in a file that only
/// the user can read.
///
/// **Thread safety:** a value; every method may be called from any thread, and blocks.
struct PasswordStore: Sendable {
  private let file: PrivateFile
  private let keyring: (any Keyring)?

  /// The passwords in a folder, and in the keyring of this session.
  init(in folder: URL, keyring: (any Keyring)? = nil) {
    file = PrivateFile("passwords.json", in: folder)
    self.keyring = keyring
  }

  /// The password of an account; nil if none is kept.
  ///
  /// Throws an `IdentityError` if the file is readable by others, or cannot be read.
  func password(of address: String) throws -> String? {
    if let found = keyring?.secret(of: address) { return found }
    return try passwords()[address]
  }

  /// Keeps a password, and says where in words.
  ///
  /// Throws an `IdentityError` if it can be kept nowhere.
  func set(_ password: String, of address: String) throws -> String {
    if let keyring, keyring.set(password, of: address) {
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
    keyring?.remove(address)
    try change { $0[address] = nil }
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

/// Where a desktop keeps its user's secrets.
protocol Keyring: Sendable {
  /// The secret of an account; nil if there is none, or the user keeps it closed.
  func secret(of address: String) -> String?
  /// Keeps a secret; false if it cannot.
  func set(_ secret: String, of address: String) -> Bool
  /// Forgets a secret.
  func remove(_ address: String)
}
