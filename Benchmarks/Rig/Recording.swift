import ProgramRig
import Foundation

/// Reader of sentences in sound files, by sox.
enum Recording {
  /// Returns the sentence at 48 kHz with its peak at -3 dBFS, without the silence before it, and at
  /// most 4.6 s long.
  ///
  /// `format` has the options that sox needs for a file without a header; `folder` takes a
  /// temporary file.
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
