import ArgumentParser
import Foundation
import ProgramRig
import Rig
import SpeechDSP

/// Effect of the filters between the microphone and the encoder, beside WebRTC's audio processing.
///
/// Everything is computed, at the speed of the machine, and comes out the same each time.
struct FiltersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "filters",
    abstract: "Echo cancellation, noise suppression and gain control, beside WebRTC's."
  )

  @OptionGroup var options: BenchOptions

  private var seconds: Int { max(10, options.seconds ?? 20) }

  func run() throws {
    let work = try WorkFolder()
    defer { work.remove() }
    let spoken = try Conversation(in: work.url).utterances.map { $0.map(\.samples) }
    let recorded = RecordedSpeech(
      python: URL(fileURLWithPath: options.python).path,
      script: BenchOptions.folder.appendingPathComponent("g722.py").path
    )
    let people = try recorded?.sentences(in: work.url) ?? []
    if people.isEmpty { print("no recorded speech: the synthesiser's alone") }
    let halves = (0..<2).map { half in
      spoken[half] + people.indices.filter { $0 % 2 == half }.map { people[$0] }
    }
    let names = FilterUnderTest.all.map(\.name).joined(separator: " | ")
    print("| What | \(names) |")
    print("|---|" + FilterUnderTest.all.map { _ in "---|" }.joined())
    try echo(far: halves[0])
    try doubleTalk(near: halves[1], far: halves[0], in: work.url)
    try noise(halves[1], in: work.url)
    try gain(halves[1])
    try delay(halves[1])
  }

  private func row(_ name: String, _ cell: (FilterUnderTest) throws -> String) throws {
    guard options.wants(name) else { return }
    print("| \(name) | \(try FilterUnderTest.all.map(cell).joined(separator: " | ")) |")
    fflush(nil)
  }

  private func text(_ value: Double, _ unit: String) -> String {
    String(format: "%.1f \(unit)", value)
  }

  /// Echo that is left, by what the far side sends: from the fourth second on, as a filter has to
  /// learn the path.
  private func echo(far sentences: [[Float]]) throws {
    let sounds = [
      ("speech", FilterSounds.speech(sentences, seconds: seconds)),
      ("white noise", FilterSounds.white(seconds: seconds, seed: 1)),
      ("pink noise", FilterSounds.pink(seconds: seconds, seed: 2)),
    ]
    let floor = FilterSounds.level(FilterSounds.white(seconds: seconds, seed: 3), -75)
    for (name, far) in sounds {
      let echo = FilterSounds.sum(FilterSounds.echo(of: far, -10), floor)
      try row("echo of \(name), removed after 3 s") { filter in
        let left = try filter.filter(echo, far: far, .init(echoCancellation: true))
        let begin = 3 * 48_000
        return text(
          FilterSounds.decibels(echo[begin..<left.count])
            - FilterSounds.decibels(left[begin...]),
          "dB"
        )
      }
    }
  }

  /// Quality of this side's speech while the far side speaks as well.
  private func doubleTalk(near sentences: [[Float]], far: [[Float]], in folder: URL) throws {
    let far = FilterSounds.speech(far, seconds: seconds)
    let said = FilterSounds.speech(sentences, seconds: seconds)
    let microphone = FilterSounds.sum(said, FilterSounds.echo(of: far, -10))
    try row("double talk, PESQ") { filter in
      let heard = try filter.filter(microphone, far: far, .init(echoCancellation: true))
      return try quality(said, heard, from: 3, in: folder)
    }
    try row("speech without an echo, PESQ") { filter in
      let silence = [Float](repeating: 0, count: said.count)
      let heard = try filter.filter(said, far: silence, .init(echoCancellation: true))
      return try quality(said, heard, from: 3, in: folder)
    }
  }

  private func noise(_ sentences: [[Float]], in folder: URL) throws {
    let said = FilterSounds.speech(sentences, seconds: seconds)
    let silence = [Float](repeating: 0, count: said.count)
    let settings = SpeechFilterSettings(noiseSuppression: true)
    for (name, noise) in [
      ("white", FilterSounds.white(seconds: seconds, seed: 4)),
      ("pink", FilterSounds.pink(seconds: seconds, seed: 5)),
    ] {
      let quiet = FilterSounds.level(noise, -50)
      try row("\(name) noise of -50 dBFS alone, removed") { filter in
        let left = try filter.filter(quiet, far: silence, settings)
        return text(-50 - FilterSounds.decibels(left[(left.count / 2)...]), "dB")
      }
      let noisy = FilterSounds.sum(said, quiet)
      try row("speech in that noise, PESQ") { filter in
        try quality(said, filter.filter(noisy, far: silence, settings), from: 3, in: folder)
      }
    }
  }

  private func gain(_ sentences: [[Float]]) throws {
    let said = FilterSounds.speech(sentences, seconds: seconds)
    let silence = [Float](repeating: 0, count: said.count)
    let settings = SpeechFilterSettings(gainControl: true)
    for level in [-46.0, -26, -16] {
      try row("speech of \(Int(level)) dBFS, level with gain control") { filter in
        let heard = try filter.filter(FilterSounds.level(said, level), far: silence, settings)
        return text(FilterSounds.decibels(heard[(heard.count / 2)...]), "dBFS")
      }
    }
    let noise = FilterSounds.level(FilterSounds.pink(seconds: seconds, seed: 6), -50)
    try row("noise of -50 dBFS, level with gain control") { filter in
      let heard = try filter.filter(noise, far: silence, settings)
      return text(FilterSounds.decibels(heard[(heard.count / 2)...]), "dBFS")
    }
  }

  /// Delay of the speech itself, the lag of its best correlation with the input; a filter waits
  /// for its whole block as well.
  private func delay(_ sentences: [[Float]]) throws {
    let said = FilterSounds.speech(sentences, seconds: seconds)
    let silence = [Float](repeating: 0, count: said.count)
    for (name, settings) in [
      ("echo cancellation", SpeechFilterSettings(echoCancellation: true)),
      ("noise suppression", SpeechFilterSettings(noiseSuppression: true)),
      ("gain control", SpeechFilterSettings(gainControl: true)),
    ] {
      try row("delay of \(name), and block") { filter in
        let heard = try filter.filter(said, far: silence, settings)
        let (begin, length) = (heard.count / 2, 48_000)
        let lag = (0..<1_920).max { one, other in
          correlation(said, heard, begin, length, one)
            < correlation(said, heard, begin, length, other)
        }
        let block =
          switch filter {
          case .none: 0.0
          case .sidetone(let frames): Double(frames) / 48
          case .webRTC: 10.0
          }
        return String(format: "%.1f + %.1f ms", Double(lag ?? 0) / 48, block)
      }
    }
  }

  private func correlation(
    _ said: [Float],
    _ heard: [Float],
    _ begin: Int,
    _ length: Int,
    _ lag: Int
  ) -> Float {
    var sum: Float = 0
    // A quarter of the samples is enough to find the lag.
    for frame in stride(from: begin, to: begin + length, by: 4) {
      sum += said[frame - lag] * heard[frame]
    }
    return sum
  }

  /// Mean PESQ of pieces of five seconds.
  private func quality(
    _ said: [Float],
    _ heard: [Float],
    from second: Int,
    in folder: URL
  ) throws -> String {
    guard let scorer = options.scorer else { return "-" }
    let length = 5 * 48_000
    let clips = stride(from: second * 48_000, through: heard.count - length, by: length).map {
      SpeechScorer.Clip(
        original: Array(said[$0..<$0 + length]),
        heard: Array(heard[$0..<$0 + length])
      )
    }
    let scores = try scorer.scores(clips, in: folder).map(\.pesq)
    return String(format: "%.2f", scores.reduce(0, +) / Double(max(1, scores.count)))
  }
}
