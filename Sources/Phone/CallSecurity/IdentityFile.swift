public import Foundation

/// A file with a user's identity, which only the user can read.
///
/// **Thread safety:** every member may be called from any thread and by several programs at once.
public struct IdentityFile: Sendable {
  private let file: PrivateFile

  /// The identity's file in a folder, which is made when it is needed.
  public init(in folder: URL) {
    file = PrivateFile("identity.pem", in: folder)
  }

  /// Loads the identity; the first time, makes one.
  ///
  /// - Throws: an `IdentityError` if the file is damaged, readable by others or out of reach.
  public func load() throws(IdentityError) -> Identity {
    try file.withLock { () throws(IdentityError) in
      if let found = try read() { return found }
      return try write(Identity.make())
    }
  }

  /// Replaces the identity by a new one; far sides that know the old one will warn their users.
  ///
  /// - Throws: an `IdentityError` if the file cannot be written.
  public func renew() throws(IdentityError) -> Identity {
    try file.withLock { () throws(IdentityError) in try write(Identity.make()) }
  }

  private func read() throws(IdentityError) -> Identity? {
    guard let pem = try file.read() else { return nil }
    do {
      return try Identity(pem: pem)
    } catch {
      throw .damagedFile(path: file.path)
    }
  }

  private func write(_ identity: Identity) throws(IdentityError) -> Identity {
    try file.write(identity.pem)
    return identity
  }
}
