import ALSAAudio
import Foundation
import MediaCore

/// Quality of speech that came through a call: PESQ-WB (ITU-T P.862.2 without Corrigendum 2), by
/// the Python package `pesq`.
///
/// Each score is the mean over four offsets of 0 to 12 ms: the alignment of PESQ's blocks of 16 ms
/// alone moves it by 0.2.
struct PerceivedQuality {
  /// Scores of parts of the call, 1 to 4.64, in ascending order.
  let scores: [Double]

  private static let rate = SampleRate(hertz: 16_000)
  private static let partFrames = 8 * 48_000
  /// Largest number of parts to score, evenly over the call: each takes most of a second.
  private static let maximumParts = 12
  /// Level that a part has to exceed to be scored, as a share of the loudest sample.
  private static let audible: Float = 0.1

  private static let program = """
    import sys, numpy, pesq
    read = lambda path: numpy.fromfile(path, dtype="<i2")
    def score(said, heard):
        try: return pesq.pesq(16000, said, heard, "wb")
        except pesq.PesqError: pass
        # Without speech there is no score; speech of which nothing came has the worst.
        try: pesq.pesq(16000, said, said, "wb")
        except pesq.PesqError: return float("nan")
        return 1.0
    for said, heard in zip(sys.argv[1::2], sys.argv[2::2]):
        said, heard = read(said), read(heard)
        print(numpy.mean([score(said[cut:], heard[cut:]) for cut in range(0, 256, 64)]))
    """

  /// True if `python` has the packages `pesq` and `numpy`.
  static func isAvailable(to python: String) -> Bool {
    // Missing or broken, it does not score.
    (try? ExternalProgram.run(python, ["-c", "import numpy, pesq"])) != nil
  }

  /// Scores `heard` against `said`, both at 48 kHz; nil if there is nothing to score.
  ///
  /// `heard` lags by `delay` milliseconds. `said` is repeated without an end, by a clock that is
  /// `drift` parts per million fast.
  init?(of heard: [Float], said: [Float], delay: Double, drift: Int, python: String) throws {
    guard delay.isFinite, delay >= 0, !said.isEmpty else { return nil }
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sidetone-quality-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let shift = Int(delay * 48)
    let last = heard.count - shift - Self.partFrames
    guard last >= 0 else { return nil }
    let audible = Self.audible * said.reduce(0) { max($0, abs($1)) }
    // The playout looks for its delay in the first seconds.
    let parts = stride(from: min(Self.partFrames, last), through: last, by: Self.partFrames)
      .map { begin in
        let first = begin + begin / 1_000_000 * drift + begin % 1_000_000 * drift / 1_000_000
        return (begin, said: first)
      }
      .filter { part in
        (part.said..<part.said + Self.partFrames).contains { abs(said[$0 % said.count]) > audible }
      }
    let step = max(1, (parts.count + Self.maximumParts - 1) / Self.maximumParts)
    var files: [String] = []
    for part in stride(from: 0, to: parts.count, by: step) {
      let (begin, first) = parts[part]
      let original = (first..<first + Self.partFrames).map { said[$0 % said.count] }
      let copy = Array(heard[begin + shift..<begin + shift + Self.partFrames])
      for (name, samples) in [("said", original), ("heard", copy)] {
        let file = folder.appendingPathComponent("\(name)-\(part).raw")
        let narrow = try Speech.convert(samples, from: .voice, to: Self.rate)
        try Data(WaveFile.encode(narrow)).write(to: file)
        files.append(file.path)
      }
    }
    guard !files.isEmpty else { return nil }
    let answer = try ExternalProgram.run(python, ["-c", Self.program] + files)
    scores = answer.split(separator: "\n").compactMap { Double($0) }.filter(\.isFinite)
      .sorted()
    guard !scores.isEmpty else { return nil }
  }

  /// Mean score of the parts.
  var mean: Double { scores.reduce(0, +) / Double(scores.count) }
  /// 5th percentile of the scores.
  var worst: Double { scores[scores.count / 20] }
}
