import ProgramRig
package import Foundation

/// Scores received speech against the original, with the Python packages `pesq` and `pystoi`.
package struct SpeechScorer {
  /// A sentence and its received copy, of the same length and at 48 kHz.
  package struct Clip {
    let original: [Float]
    let heard: [Float]

    /// Creates a clip of a sentence with silence around it and the output of the same time.
    package init(original: [Float], heard: [Float]) {
      self.original = original
      self.heard = heard
    }
  }

  /// Scores of a clip.
  package struct Score: Codable, Equatable, Sendable {
    /// Sound quality as PESQ-WB (ITU-T P.862.2), 1 to 4.64.
    package let pesq: Double
    /// Intelligibility as STOI, 0 to 1.
    package let stoi: Double
  }

  private let python: String
  private let script: String

  /// Creates a scorer that runs `script` by that Python; nil if one of them is missing.
  package init?(python: String, script: String) {
    for file in [python, script] where !FileManager.default.fileExists(atPath: file) { return nil }
    self.python = python
    self.script = script
  }

  /// Returns the scores of each clip, the worst ones for clips that cannot be scored, such as
  /// silence.
  ///
  /// The clips are left in `folder`.
  package func scores(_ clips: [Clip], in folder: URL) throws -> [Score] {
    guard !clips.isEmpty else { return [] }
    var files: [String] = []
    for (index, clip) in clips.enumerated() {
      for (name, samples) in [("said", clip.original), ("heard", clip.heard)] {
        let file = folder.appendingPathComponent("\(name)-\(index).raw")
        unsafe try samples.withUnsafeBytes { unsafe Data($0) }.write(to: file)
        files.append(file.path)
      }
    }
    let answer = folder.appendingPathComponent("scores.json")
    try run(python, [script, answer.path] + files)
    return try JSONDecoder().decode([Score].self, from: Data(contentsOf: answer))
  }
}
