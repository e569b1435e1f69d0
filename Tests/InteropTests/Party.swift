import Foundation
import ProgramRig

/// A caller whose voice is a tone.
struct Party {
  let hertz: Double
  let heard: URL
  /// The recording of its loudspeaker, as a clock.
  let sound: PlayedSound
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
    sound = try PlayedSound(in: heard)
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

  /// Waits until it has heard `other` for so many tenths of a second more than when it was asked;
  /// false if a minute of its sound has not that much.
  func goesOnHearing(_ other: Party, tenths: Int) throws -> Bool {
    // There is no file before the first sound.
    guard sound.goesOn(seconds: 0.5) else { return false }
    let goal = try hears(other).count { $0 } + tenths
    let end = sound.seconds + 60
    while try hears(other).count(where: { $0 }) < goal {
      guard sound.goesOn(seconds: 0.5), sound.seconds < end else { return false }
    }
    return true
  }

  func event(_ name: String, times: Int = 1) -> Bool {
    run.wait(for: "\"event\":\"\(name)\"", times: times)
  }
}
