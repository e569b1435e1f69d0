package import Foundation

/// The sound that a program's virtual loudspeaker plays into a file, as a clock.
///
/// A second of a call has 48,000 frames, however busy the machine is.
package struct PlayedSound {
  /// Size of a second in the file: mono, 16 bits, 48 kHz, after a header of 44 bytes.
  private static let bytesPerSecond = 96_000.0

  private let file: URL
  private let watch: FolderWatch

  /// The sound in a file that a program writes, or is going to write.
  package init(in file: URL) throws {
    self.file = file
    watch = try FolderWatch(file.deletingLastPathComponent())
  }

  /// Seconds in the file so far.
  package var seconds: Double {
    // A file that is not there yet holds nothing.
    let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
    let bytes = attributes?[.size] as? Int ?? 0
    return Double(max(0, bytes - 44)) / Self.bytesPerSecond
  }

  /// Waits until `more` further seconds have been played; false if that does not happen in time.
  package func goesOn(seconds more: Double) -> Bool {
    let goal = seconds + more
    return waits { seconds >= goal }
  }

  /// Waits until `isTrue` holds for the sound played; it is called whenever the file grows.
  package func waits(until isTrue: () throws -> Bool) rethrows -> Bool {
    let end = Date(timeIntervalSinceNow: Patience.limit)
    while try !isTrue() {
      guard watch.wait(until: end) else { return try isTrue() }
    }
    return true
  }
}
