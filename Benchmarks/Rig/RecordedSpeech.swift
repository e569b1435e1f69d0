import ProgramRig
package import Foundation

/// Sentences of real people in English, French, Italian and Russian: announcements of a telephone
/// exchange, which Debian has in its packages `asterisk-core-sounds-*-g722` (Allison Smith, June
/// Wallack, Carlo Flora, Maxim Topal; CC-BY-SA 3.0, CC-BY 3.0).
package struct RecordedSpeech {
  private let python: String
  private let script: String

  private static let folder = URL(fileURLWithPath: "/usr/share/asterisk/sounds")
  private static let speakers = [
    "en_US_f_Allison", "fr_CA_f_June", "it_IT_m_Carlo", "ru_RU_f_IvrvoiceRU",
  ]
  // Three to five seconds long in each language.
  private static let names = ["conf-getconfno", "vm-review-urgent", "vm-whichbox"]

  private static var files: [URL] {
    names.flatMap { name in
      speakers.map { folder.appendingPathComponent("\($0)/\(name).g722") }
    }
  }

  /// Creates a source of the recordings, which `script` decodes with that Python; nil if a
  /// recording, or the decoder, is missing.
  package init?(python: String, script: String) {
    let needed = Self.files.map(\.path) + [python, script]
    guard needed.allSatisfy({ FileManager.default.fileExists(atPath: $0) }),
      (try? run(python, ["-c", "import G722, numpy"])) != nil
    else { return nil }
    self.python = python
    self.script = script
  }

  /// Returns the sentences at 48 kHz, the languages by turns; files are left in `work`.
  package func sentences(in work: URL) throws -> [[Float]] {
    let decoded = Self.files.indices.map { work.appendingPathComponent("recorded-\($0).raw") }
    let pairs = zip(Self.files, decoded).flatMap { [$0.path, $1.path] }
    try run(python, [script] + pairs)
    let format = ["-t", "raw", "-r", "16000", "-c", "1", "-e", "signed-integer", "-b", "16"]
    return try decoded.map { try Recording.samples(of: $0, format: format, in: work) }
  }
}
