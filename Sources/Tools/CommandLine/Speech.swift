import ALSAAudio
import Foundation
import Localization
import MediaCore
import SpeechDSP

/// Sources of speech: sound files and espeak-ng.
enum Speech {
  // Harvard sentences (IEEE 297-1969) with pauses between them.
  private static let sentences = [
    "The birch canoe slid on the smooth planks.", "Glue the sheet to the dark blue background.",
    "It is easy to tell the depth of a well.", "These days a chicken leg is a rare dish.",
    "Rice is often served in round bowls.", "The juice of lemons makes fine punch.",
  ]

  /// Reads a sound file.
  ///
  /// - Throws: a `CommandFailure` that says what is wrong with it.
  static func soundFile(at path: String) throws -> SoundFile {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw CommandFailure("cannot read \"\(path)\"")
    }
    do throws(SoundFile.ReadError) {
      let sound = try SoundFile(parsing: [UInt8](data))
      if sound.isAntiphase {
        Terminal.printError(
          "sidetone: the channels of \"\(path)\" cancel each other; one of them is taken"
        )
      }
      if let excess = sound.excess {
        let highest = String(format: "%g", excess)
        Terminal.printError("sidetone: the samples of \"\(path)\" go to \(highest), taken as 1")
      }
      return sound
    } catch {
      throw CommandFailure(reason: "\"\(path)\" is no sound file that can be read: \(error)")
    }
  }

  /// Returns the sound of a file, at 48 kHz.
  static func load(_ path: String) throws -> [Float] {
    let wave = try soundFile(at: path)
    guard !wave.samples.isEmpty else { throw CommandFailure("nothing is said in \"\(path)\"") }
    return try convert(wave.samples, from: SampleRate(hertz: wave.rateHertz), to: .voice)
  }

  /// Returns six sentences by espeak-ng at 48 kHz, each followed by a second of silence.
  static func spoken() throws -> [Float] {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("sidetone-speech-\(ProcessInfo.processInfo.processIdentifier).wav")
    defer { try? FileManager.default.removeItem(at: file) }
    var sound: [Float] = []
    for (index, sentence) in sentences.enumerated() {
      let voice = ["en-gb", "en-us+f3", "en-gb+m3"][index % 3]
      do {
        try ExternalProgram.run("espeak-ng", ["-v", voice, "-s", "150", "-w", file.path, sentence])
      } catch {
        throw CommandFailure("espeak-ng does not speak; install it, or give --speech FILE.wav")
      }
      sound += try load(file.path) + [Float](repeating: 0, count: 48_000)
    }
    return sound
  }

  /// Returns the same sound at another rate.
  static func convert(
    _ samples: [Float],
    from rate: SampleRate,
    to other: SampleRate
  ) throws -> [Float] {
    guard rate != other else { return samples }
    var resampler = try FixedRateResampler(from: rate, to: other)
    let input = SampleBuffer(samples)
    var output = SampleBuffer(repeating: 0, count: samples.count * other.hertz / rate.hertz + 4_096)
    let produced = resampler.convert(input, count: input.count, into: &output, at: 0).produced
    return (0..<produced).map { output[$0] }
  }
}
