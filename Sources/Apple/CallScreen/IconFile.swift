import CLinux
import Glibc

/// An icon as a file in memory, which the notification server opens by its path.
///
/// Nothing is left in a folder, whatever becomes of the program. **Life cycle:** readable from the
/// initialiser until `deinit`.
final class IconFile: Sendable {
  private static let header: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
  /// In bytes; a larger picture is no icon.
  private static let limit = 1 << 20

  private let descriptor: CInt

  /// A file with the bytes of a PNG (ISO/IEC 15948); nil if they are none, if they are more than
  /// 1 MiB, or if there is no memory for it.
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

  /// Where programs of the same user find it.
  var path: String { "file:///proc/\(getpid())/fd/\(descriptor)" }
}
