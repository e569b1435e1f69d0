import CLinux
import Glibc

/// An icon as a file in memory, which the notification server opens by its path.
///
/// Leaves no file behind, even if the program crashes. **Life cycle:** readable from the
/// initialiser until `deinit`.
final class IconFile: Sendable {
  private static let header: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
  /// Maximum size in bytes; a larger picture is not used as an icon.
  private static let limit = 1 << 20

  private let descriptor: CInt

  /// Creates a file of the bytes of a PNG (ISO/IEC 15948).
  ///
  /// Returns nil if they are not a PNG, if they are more than 1 MiB, or if there is no memory for
  /// them.
  init?(_ png: [UInt8]) {
    guard png.starts(with: Self.header), png.count <= Self.limit else { return nil }
    descriptor = system_memory_file()
    guard descriptor >= 0 else { return nil }
    guard unsafe write(descriptor, png, png.count) == png.count else {
      close(descriptor)
      return nil
    }
  }

  deinit {
    close(descriptor)
  }

  /// URL under which programs of the same user can open the file.
  var path: String { "file:///proc/\(getpid())/fd/\(descriptor)" }
}
