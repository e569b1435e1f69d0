public import Foundation

/// Where a user's identity is kept: one file that only the user can read.
///
/// **Thread safety:** every member may be called from any thread and by several programs at once.
public struct IdentityFile: Sendable {
  private let folder: URL

  private var file: URL { folder.appendingPathComponent("identity.pem") }

  /// The identity in a folder, which is made when it is needed.
  public init(in folder: URL) {
    self.folder = folder
  }

  /// The identity, made at the first time.
  ///
  /// - Throws: an `IdentityError` if the file is damaged, readable by others or out of reach.
  public func load() throws(IdentityError) -> Identity {
    try withLock { () throws(IdentityError) in
      if let found = try read() { return found }
      return try write(Identity.make())
    }
  }

  /// Replaces the identity by a new one; far sides that know the old one will warn their users.
  ///
  /// - Throws: an `IdentityError` if the file cannot be written.
  public func renew() throws(IdentityError) -> Identity {
    try withLock { () throws(IdentityError) in try write(Identity.make()) }
  }

  // Two programs that start at once would each make one.
  private func withLock<Result>(
    _ body: () throws(IdentityError) -> Result
  ) throws(IdentityError) -> Result {
    do {
      try FileManager.default.createDirectory(
        at: folder,
        withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700]
      )
    } catch {
      throw .inaccessible(path: folder.path, reason: error.localizedDescription)
    }
    let lock = unsafe open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { if lock >= 0 { close(lock) } }
    while lock >= 0, flock(lock, LOCK_EX) != 0, errno == EINTR {}
    return try body()
  }

  private func read() throws(IdentityError) -> Identity? {
    let descriptor = unsafe open(file.path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw systemError()
    }
    defer { close(descriptor) }
    // The open file is looked at, not the path: it could be exchanged in between.
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw systemError() }
    guard status.st_mode & 0o077 == 0 else { throw .readable(path: file.path) }
    var pem = [UInt8](repeating: 0, count: 16_384)
    let length = unsafe Glibc.read(descriptor, &pem, pem.count)
    guard length >= 0 else { throw systemError() }
    do {
      return try Identity(pem: Array(pem[..<length]))
    } catch {
      throw .damagedFile(path: file.path)
    }
  }

  // Complete, or not at all: a key that is half written would be a lost identity.
  private func write(_ identity: Identity) throws(IdentityError) -> Identity {
    let draft = folder.appendingPathComponent("identity.pem.new").path
    unsafe unlink(draft)
    let descriptor = unsafe open(draft, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw systemError() }
    let written = unsafe Glibc.write(descriptor, identity.pem, identity.pem.count)
    let isSafe = written == identity.pem.count && fsync(descriptor) == 0
    guard close(descriptor) == 0, isSafe, unsafe rename(draft, file.path) == 0 else {
      throw systemError()
    }
    return identity
  }

  private func systemError() -> IdentityError {
    .inaccessible(path: file.path, reason: unsafe String(cString: strerror(errno)))
  }
}
