import Foundation

/// A caller whose voice is a tone.
struct Party {
  let hertz: Double
  let heard: URL
  let run: ProgramRun

  init(
    _ name: String,
    hertz: Double,
    in folder: URL,
    _ arguments: [String],
    environment: [String: String] = [:]
  ) throws {
    let said = folder.appendingPathComponent("\(name)-said.wav")
    heard = folder.appendingPathComponent("\(name)-heard.wav")
    try Tones.write(hertz: hertz, seconds: 40, to: said)
    self.hertz = hertz
    run = try Bench.run(
      arguments + [
        "--json", "--keys", "--capture", "file:\(said.path)", "--playback", "file:\(heard.path)",
      ],
      environment: environment
    )
  }

  /// For each tenth of a second, whether `other` was heard.
  func hears(_ other: Party) throws -> [Bool] {
    try Tones.presence(of: other.hertz, in: heard)
  }

  func event(_ name: String, times: Int = 1) -> Bool {
    run.wait(for: "\"event\":\"\(name)\"", times: times)
  }
}
