import Foundation

/// A file with the media players that a program has paused or lowered: if the program is killed,
/// the next one lets them go on.
///
/// The file is locked while its program runs. After a minute without a `touch` it is ignored, as
/// the user may have chosen by then that the players stay silent.
///
/// **Life cycle:** the file is made by the initialiser and removed by `deinit`. **Thread safety:**
/// one thread at a time.
struct QuietPlayersFile: ~Copyable {
  private static let prefix = "sidetone-paused-"
  /// The most that is read of a file, in bytes.
  private static let capacity = 65_536
  /// Time after the last `touch` in which a file counts, in seconds.
  static let lifetime = 60
  /// Interval at which a file is to be touched, in seconds.
  static let touchPeriod = 15

  private let path: String
  private let descriptor: Int32

  /// A new file in the folder; nil if it cannot be made.
  init?(in folder: URL) {
    path = folder.appendingPathComponent(Self.prefix + UUID().uuidString).path
    let opened = unsafe open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
    guard opened >= 0 else { return nil }
    descriptor = opened
    _ = flock(descriptor, LOCK_EX | LOCK_NB)
  }

  deinit {
    unsafe unlink(path)
    close(descriptor)
  }

  /// Replaces the players in the file.
  borrowing func write(_ players: [QuietPlayer]) {
    let bytes = Array(players.map(\.line).joined(separator: "\n").utf8)
    guard ftruncate(descriptor, 0) == 0 else { return }
    _ = unsafe pwrite(descriptor, bytes, bytes.count, 0)
  }

  /// Updates the file's modification time, since its program still lives.
  borrowing func touch() { _ = futimens(descriptor, nil) }

  /// Takes the players from files whose programs were killed within the last minute; removes the
  /// files of all killed programs.
  ///
  /// - Parameters:
  ///   - folder: the folder of the files.
  ///   - now: the wall clock, in seconds since 1970.
  /// - Returns: the players, in no order.
  static func takeAbandoned(in folder: URL, at now: Int = time(nil)) -> [QuietPlayer] {
    // A folder that is not there has no files.
    let found = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return found.filter { $0.hasPrefix(prefix) }.flatMap { name in
      let path = folder.appendingPathComponent(name).path
      let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      guard descriptor >= 0 else { return [QuietPlayer]() }
      defer { close(descriptor) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return [] }
      unsafe unlink(path)
      var status = stat()
      guard unsafe fstat(descriptor, &status) == 0, status.st_uid == getuid(),
        now - status.st_mtim.tv_sec < lifetime
      else { return [] }
      var bytes = [UInt8](repeating: 0, count: capacity)
      let length = max(0, unsafe read(descriptor, &bytes, bytes.count))
      return String(decoding: bytes[..<length], as: UTF8.self).split(separator: "\n")
        .compactMap { QuietPlayer(line: $0) }
    }
  }
}
