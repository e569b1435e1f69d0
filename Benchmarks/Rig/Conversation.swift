import ProgramRig
package import Foundation
import VoiceEngine

/// What both users say: by turns ten seconds of speech and chirps, so that each direction's delay
/// is known each second of one half, and its sound in the other.
package struct Conversation {
  /// One sentence and where it lies.
  package struct Utterance {
    /// At 48 kHz, without the silence around it.
    package let samples: [Float]
    /// Of its first frame in the sound.
    package let frame: Int
  }

  /// The sound of each side, to be played over and over.
  package let sounds: [[Float]]
  /// The sentences of each side.
  package let utterances: [[Utterance]]

  private static let turnFrames = 5 * 48_000
  private static let sentences = [
    [
      "The birch canoe slid on the smooth planks.", "Glue the sheet to the dark blue background.",
      "It is easy to tell the depth of a well.", "Four hours of steady work faced us.",
    ],
    [
      "The boy was there when the sun rose.", "A rod is used to catch pink salmon.",
      "Kick the ball straight and follow through.", "Help the woman get back to her feet.",
    ],
  ]
  private static let voices = [["en-gb", "en-us+f3"], ["en-us+m3", "en-gb+f2"]]

  /// Has espeak-ng speak the sentences (Harvard sentences, IEEE 297-1969) into files in `folder`.
  package init(in folder: URL) throws {
    var sounds: [[Float]] = []
    var utterances: [[Utterance]] = []
    for side in 0..<2 {
      var sound: [Float] = []
      var said: [Utterance] = []
      for (index, sentence) in Self.sentences[side].enumerated() {
        let voice = Self.voices[side][index % 2]
        let speech = try Self.speak(sentence, voice: voice, in: folder)
        let chirps = Array(ProbeSignal.samples(seconds: 5))
        let begin = sound.count + (side == 0 ? Self.turnFrames : 0) + 4_800
        let padding = [Float](repeating: 0, count: Self.turnFrames - 4_800 - speech.count)
        let spoken = [Float](repeating: 0, count: 4_800) + speech + padding
        sound += side == 0 ? chirps + spoken : spoken + chirps
        said.append(Utterance(samples: speech, frame: begin))
      }
      sounds.append(sound)
      utterances.append(said)
    }
    self.sounds = sounds
    self.utterances = utterances
  }

  /// The frames at which the chirps of `side` begin, of `frames` played.
  package func chirps(of side: Int, within frames: Int) -> [Int] {
    stride(from: 0, to: frames, by: ProbeSignal.intervalFrames).filter { frame in
      let isFirstHalf = frame % (2 * Self.turnFrames) < Self.turnFrames
      return isFirstHalf == (side == 0)
    }
  }

  private static func speak(_ text: String, voice: String, in folder: URL) throws -> [Float] {
    let spoken = folder.appendingPathComponent("spoken.wav")
    try run("espeak-ng", ["-v", voice, "-s", "150", "-w", spoken.path, text])
    return try Recording.samples(of: spoken, in: folder)
  }
}
