import ProgramRig
package import Foundation
import VoiceEngine

/// Evaluator of a conversation by the recordings of what each side heard.
package struct Listener {
  /// Time from 1 to 3 s after a call can first be heard, in seconds since it was placed.
  private static var beginning: Range<Double> {
    TrialResult.heardAfter + 1..<TrialResult.heardAfter + 3
  }

  private let conversation: Conversation
  private let scorer: SpeechScorer?

  /// Creates a listener that knows the sound of both talkers; without a scorer, sentences are not
  /// scored.
  package init(to conversation: Conversation, scorer: SpeechScorer?) {
    self.conversation = conversation
    self.scorer = scorer
  }

  /// Returns how `heard` carries the sound of the side `source` during `window`: the delay of each
  /// chirp and the PESQ of each sentence.
  ///
  /// `heard` and `window` are counted in frames since the conversation began; the call was placed
  /// at frame `placed`. The clips that are scored are left in `folder`.
  package func direction(
    _ name: String,
    heard: [Float],
    of source: Int,
    during window: Range<Int>,
    placed: Int,
    in folder: URL
  ) throws -> TrialResult.Direction {
    func chirps(during window: Range<Int>) -> [TrialResult.Direction.Chirp] {
      self.chirps(of: source, in: heard, during: window, placed: placed)
    }
    var direction = TrialResult.Direction(
      name: name,
      chirps: chirps(during: window),
      beginning: chirps(during: placed..<window.lowerBound).filter {
        Self.beginning.contains($0.second)
      },
      pesq: []
    )
    if let scorer {
      let clips = clips(of: source, in: heard, during: window, delays: direction.delays)
      direction.pesq = try scorer.scores(clips, in: folder).map(\.pesq)
    }
    return direction
  }

  private func chirps(
    of source: Int,
    in heard: [Float],
    during window: Range<Int>,
    placed: Int
  ) -> [TrialResult.Direction.Chirp] {
    conversation.chirps(of: source, within: window.upperBound)
      .filter { $0 >= window.lowerBound && $0 + 96_000 < heard.count }
      .map { frame in
        // Not further than the next chirp could be taken for this one.
        let found = ProbeSignal.find(in: heard, range: frame..<frame + 45_000)
        return TrialResult.Direction.Chirp(
          second: Double(frame - placed) / 48_000,
          delayMilliseconds: found.map { ($0 - Double(frame)) / 48 }
        )
      }
  }

  // Sentences with what was heard of them, a quarter of a second of what is around included.
  private func clips(
    of source: Int,
    in heard: [Float],
    during window: Range<Int>,
    delays: [Double]
  ) -> [SpeechScorer.Clip] {
    guard !delays.isEmpty else { return [] }
    let delay = Int(Percentiles(delays).median * 48)
    let cycle = conversation.sounds[source].count
    var clips: [SpeechScorer.Clip] = []
    for start in stride(from: 0, to: window.upperBound, by: cycle) {
      for utterance in conversation.utterances[source] {
        let frame = start + utterance.frame
        let end = frame + utterance.samples.count
        guard frame >= window.lowerBound, end <= window.upperBound else { continue }
        let around = frame + delay - 4_000..<end + delay + 12_000
        guard around.lowerBound >= 0, around.upperBound <= heard.count else { continue }
        clips.append(
          SpeechScorer.Clip(
            original: [Float](repeating: 0, count: 4_000) + utterance.samples
              + [Float](repeating: 0, count: 12_000),
            heard: Array(heard[around])
          )
        )
      }
    }
    return clips
  }
}
