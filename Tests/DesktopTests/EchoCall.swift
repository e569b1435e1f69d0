import ALSAAudio
import Foundation
import ProgramRig
import Testing
import VoiceEngine

/// A call to a machine whose microphone hears its loudspeaker: what the caller says comes back.
struct EchoCall {
  /// What came back.
  struct Outcome {
    /// When each probe was said that came back, in seconds, and how much later it came, in
    /// milliseconds.
    var echoes: [(second: Double, delay: Double)] = []
    /// How long the sound server was disturbed, in milliseconds.
    var downtime = 0.0
    /// The processor time that the far side took up to then, as a share of the call's.
    var processorShare = 0.0
    /// Whether both sides say that the call ended well.
    var isEndedWell = false
    /// What the far side printed.
    var farOutput = ""

    /// The longest time without an echo, beyond the distance of two probes, in milliseconds.
    var silence: Double {
      zip(echoes, echoes.dropFirst()).map { ($1.second - $0.second) * 1_000 }.max()
        .map { $0 - EchoCall.interval * 1_000 } ?? .infinity
    }
  }

  /// Between two probes, in seconds.
  private static let interval = 0.25
  /// The playout looks for its delay.
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

  /// Holds the call for so long, and disturbs the server after `quiet` seconds of it.
  ///
  /// The sound that the caller hears is the clock.
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
      // Not further than the next one could be taken for this one.
      let found = ProbeSignal.find(in: heard, range: frame..<frame + intervalFrames - 2_400)
      return found.map { (Double(frame) / 48_000, ($0 - Double(frame)) / 48) }
    }
  }
}
