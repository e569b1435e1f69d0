package import Foundation

/// A file that only the user can read; reading fails if others can read it too.
///
/// **Thread safety:** every member may be called from any thread and by several programs at once.
package struct PrivateFile: Sendable {
  private let folder: URL
  private let name: String

  /// Maximum number of bytes that are read; no secret is longer.
  private static let capacity = 65_536

  /// A file in a folder, which is made when it is needed.
  package init(_ name: String, in folder: URL) {
    self.folder = folder
    self.name = name
  }

  /// The path of the file.
  package var path: String { folder.appendingPathComponent(name).path }

  /// Runs `body` while no other program changes a private file of the folder.
  ///
  /// - Throws: an `IdentityError` if the folder cannot be made, or what `body` throws.
  package func withLock<Result>(
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

  /// The contents of the file; nil if there is no such file.
  ///
  /// - Throws: an `IdentityError` if others can read it, or this program cannot.
  package func read() throws(IdentityError) -> [UInt8]? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw systemError()
    }
    defer { close(descriptor) }
    // The open file is looked at, not the path: it could be exchanged in between.
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw systemError() }
    guard status.st_mode & 0o077 == 0 else { throw .readable(path: path) }
    var bytes = [UInt8](repeating: 0, count: Self.capacity)
    let length = unsafe Glibc.read(descriptor, &bytes, bytes.count)
    guard length >= 0 else { throw systemError() }
    return Array(bytes[..<length])
  }

  /// Replaces the contents of the file atomically.
  ///
  /// - Parameters:
  ///   - bytes: the new contents.
  ///   - keepsDevices: true to write into a device or a pipe of that name, and leave it there.
  /// - Throws: an `IdentityError` if it cannot be written.
  package func write(_ bytes: [UInt8], keepsDevices: Bool = false) throws(IdentityError) {
    var status = stat()
    if keepsDevices, unsafe stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      // A pipe that is not read from would be waited for.
      let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK)
      defer { if descriptor >= 0 { close(descriptor) } }
      guard descriptor >= 0, fcntl(descriptor, F_SETFL, 0) == 0 else { throw systemError() }
      if let error = fill(descriptor, with: bytes) { throw systemError(error) }
      return
    }
    let draft = "\(path).\(UInt32.random(in: 0...UInt32.max)).new"
    let descriptor = unsafe open(draft, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw systemError() }
    var error = fill(descriptor, with: bytes)
    if error == nil, fsync(descriptor) != 0 { error = errno }
    if close(descriptor) != 0, error == nil { error = errno }
    if error == nil, unsafe rename(draft, path) != 0 { error = errno }
    guard let error else { return }
    unsafe unlink(draft)
    throw systemError(error)
  }

  // Writes all bytes; returns the system's error, nil for none.
  private func fill(_ descriptor: CInt, with bytes: [UInt8]) -> CInt? {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
      }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { return written < 0 ? errno : ENOSPC }
      rest = rest.dropFirst(written)
    }
    return nil
  }

  private func systemError(_ code: CInt = errno) -> IdentityError {
    .inaccessible(path: path, reason: unsafe String(cString: strerror(code)))
  }
}
