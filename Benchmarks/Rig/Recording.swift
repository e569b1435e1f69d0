import ProgramRig
import Foundation

/// A sentence in a file.
enum Recording {
  /// What is said in it at 48 kHz, at an even level, without the silence before it and not longer
  /// than 4.6 s.
  ///
  /// `format` is what sox needs to know of a file without a header.
  static func samples(of file: URL, format: [String] = [], in folder: URL) throws -> [Float] {
    let raw = folder.appendingPathComponent("recording.raw")
    try run(
      "sox",
      format + [
        file.path, "-r", "48000", "-c", "1", "-e", "floating-point", "-b", "32", "-t", "raw",
        raw.path, "gain", "-n", "-3", "silence", "1", "0.01", "0.5%", "trim", "0", "4.6",
      ]
    )
    return unsafe try Data(contentsOf: raw).withUnsafeBytes {
      unsafe Array($0.bindMemory(to: Float.self))
    }
  }
}
