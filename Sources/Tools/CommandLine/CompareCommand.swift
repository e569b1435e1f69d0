import ALSAAudio
import ArgumentParser
import Foundation
import Localization

struct CompareCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Tell how well a recording carries another's speech.",
    discussion: "Exit status 1 if less than half of the speech is found in the recording.",
    shouldDisplay: !HelpScreen.isShort
  )

  @Argument(help: "The sound file that was said.")
  var said: String

  @Argument(help: "The sound file that was heard.")
  var heard: String

  func run() throws {
    let said = try Speech.soundFile(at: said)
    let heard = try Speech.soundFile(at: heard)
    let comparison = RecordingComparison(
      said: said.samples,
      saidRate: said.rateHertz,
      heard: heard.samples,
      heardRate: heard.rateHertz
    )
    guard comparison.segments > 0 else {
      throw CommandFailure(reason: "nothing is said in \"\(self.said)\", or nothing can be heard")
    }
    let delay = comparison.delayMilliseconds.map { String(format: "%.1f", $0) } ?? "-"
    let figures = String(
      format: "delay %@ ms, similarity %.2f, %.0f %% of %d half seconds of speech heard",
      delay,
      comparison.similarity,
      comparison.heardShare * 100,
      comparison.segments
    )
    let drift = comparison.drift.flatMap { abs($0) < 1 ? nil : String(format: "%+.0f", $0) }
    print(
      figures + (comparison.isInverted ? ", inverted" : "")
        + (drift.map { ", its clock \($0) ppm" } ?? "")
    )
    guard comparison.heardShare >= 0.5 else { throw ExitCode.failure }
  }
}
