import ProgramRig
package import Foundation
import VoiceEngine

/// Test sound of both talkers: five seconds of speech and five of chirps by turns, one side
/// speaking while the other chirps.
///
/// The chirps give the delay of a direction for each second of one half; the speech gives its sound
/// quality in the other.
package struct Conversation {
  /// One sentence and its position in the sound.
  package struct Utterance {
    /// Samples at 48 kHz, without silence before the sentence.
    package let samples: [Float]
    /// Index of the first frame in the side's sound.
    package let frame: Int
  }

  /// Sound of each side at 48 kHz, to be played over and over.
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

  /// Synthesizes the sentences (Harvard sentences, IEEE 297-1969) by espeak-ng, through files in
  /// `folder`.
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

  /// Returns the frames at which the chirps of `side` begin, among the first `frames` played.
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
