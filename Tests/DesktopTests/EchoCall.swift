import ALSAAudio
import Foundation
import ProgramRig
import Testing
import VoiceEngine

/// A call to a machine whose microphone hears its loudspeaker, so that the caller's sound comes
/// back.
struct EchoCall {
  /// Measurements of a call.
  struct Outcome {
    /// Probes that came back: the time at which each was sent, in seconds of the call, and its
    /// round-trip delay, in milliseconds.
    var echoes: [(second: Double, delay: Double)] = []
    /// Duration of the sound server's disturbance, in milliseconds.
    var downtime = 0.0
    /// Processor time of the far side before the disturbance, as a share of that time.
    var processorShare = 0.0
    /// True if both programs ended with status 0.
    var isEndedWell = false
    /// Output of the far side's program.
    var farOutput = ""

    /// Longest time without an echo, beyond the interval of two probes, in milliseconds; infinite
    /// with fewer than two echoes.
    var silence: Double {
      zip(echoes, echoes.dropFirst()).map { ($1.second - $0.second) * 1_000 }.max()
        .map { $0 - EchoCall.interval * 1_000 } ?? .infinity
    }
  }

  /// Interval between two probes, in seconds.
  private static let interval = 0.25
  /// Time in seconds until the playout has settled on its delay.
  private static let settling = 3.0

  private let program: String
  private let headset: String
  private let environment: [String: String]
  private let folder: URL

  /// A call by the built program, whose far side uses a headset that is found with `environment`.
  ///
  /// Throws if the program is not built.
  init(over headset: String, environment: [String: String], in folder: URL) throws {
    program = try #require(ProgramUnderTest.url, "build the program first: swift build").path
    self.headset = headset
    self.environment = environment
    self.folder = folder
  }

  /// Makes a call of `seconds`, and disturbs the sound server after `quiet` seconds of it.
  ///
  /// Time is measured by the sound that the caller receives.
  func run(
    seconds: Int,
    quietFor quiet: Double,
    disturbing disturb: (_ heard: PlayedSound) throws -> Void
  ) throws -> Outcome {
    let said = folder.appendingPathComponent("said.wav")
    let heard = folder.appendingPathComponent("heard.wav")
    let probe = Self.probe(seconds: seconds + 5)
    let wave = WaveFile.header(rateHertz: 48_000, sampleCount: probe.count) + WaveFile.encode(probe)
    try Data(wave).write(to: said)
    let port = Int.random(in: 2_000...3_000) * 10
    let far = try start(
      ["listen", "--answer", "--once", "--headset", headset]
        + ["--listen", "127.0.0.1:\(port)"],
      as: "far"
    )
    defer { far.stop() }
    guard far.waits(for: "registered", seconds: Patience.limit) else { throw RigError(far.output) }
    let sound = try PlayedSound(in: heard)
    let near = try start(
      ["call", "sip:b@127.0.0.1:\(port)", "--listen", "127.0.0.1:\(port + 2)"]
        + ["--capture", "file:\(said.path)", "--playback", "file:\(heard.path)"]
        + ["--duration", "\(seconds)"],
      as: "near"
    )
    defer { near.stop() }
    guard near.waits(for: "\"connected\"", seconds: Patience.limit) else {
      throw RigError(near.output)
    }
    var outcome = Outcome()
    let before = far.processorSeconds
    guard sound.goesOn(seconds: quiet) else { throw RigError(near.output) }
    outcome.processorShare = (far.processorSeconds - before) / quiet
    let begin = sound.seconds
    try disturb(sound)
    outcome.downtime = (sound.seconds - begin) * 1_000
    outcome.isEndedWell = near.waitForExit() == 0 && far.waitForExit() == 0
    outcome.farOutput = far.output
    let recording = try SoundFile(parsing: [UInt8](Data(contentsOf: heard)))
    outcome.echoes = Self.echoes(in: recording.samples)
    return outcome
  }

  private func start(_ arguments: [String], as name: String) throws -> RunningProgram {
    try RunningProgram(
      Invocation(program, arguments + ["--json", "--frame", "10"]),
      environment: environment,
      log: folder.appendingPathComponent("\(name).log")
    )
  }

  private static var intervalFrames: Int { Int(interval * 48_000) }

  private static func probe(seconds: Int) -> [Float] {
    let chirp = ProbeSignal.chirp()
    let pause = [Float](repeating: 0, count: intervalFrames - chirp.count)
    return (0..<Int(Double(seconds) / interval)).flatMap { _ in chirp + pause }
  }

  private static func echoes(in heard: [Float]) -> [(second: Double, delay: Double)] {
    let last = heard.count - 2 * intervalFrames
    return stride(from: Int(settling * 48_000), to: last, by: intervalFrames).compactMap { frame in
      // Each comes back once within the interval, wherever a machine that stalls has moved it.
      let found = ProbeSignal.find(in: heard, range: frame..<frame + intervalFrames)
      return found.map { (Double(frame) / 48_000, ($0 - Double(frame)) / 48) }
    }
  }
}
