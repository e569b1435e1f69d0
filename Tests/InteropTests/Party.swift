import Foundation
import ProgramRig

/// A party of a call, whose voice is a tone.
struct Party {
  let hertz: Double
  let heard: URL
  /// Recording of its loudspeaker, used as a clock.
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

  /// Presence of `other` in each tenth of a second of the recording.
  func hears(_ other: Party) throws -> [Bool] {
    try Tones.presence(of: other.hertz, in: heard)
  }

  /// Waits until `other` is present in so many more tenths of a second; false if a minute of sound
  /// does not suffice.
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
