import ALSAAudio
import Foundation
import ProgramRig
import Rig

/// Short calls between two programs on this machine, one of which plays a tone to the other.
struct ProgramCalls {
  private let program: String
  private let folder: URL
  private let tone: URL

  init(_ program: String, in folder: URL) throws {
    self.program = program
    self.folder = folder
    tone = folder.appendingPathComponent("tone.wav")
    let samples = (0..<480_000).map { Float(0.3 * sin(Double($0) / 48_000 * 2 * .pi * 440)) }
    let file = WaveFile.header(rateHertz: 48_000, sampleCount: samples.count)
    try Data(file + WaveFile.encode(samples)).write(to: tone)
  }

  /// Makes one call, and adds the times until it was connected and until the answering side heard
  /// the tone to `report`.
  ///
  /// The second is the tone's position in the recording of a virtual loudspeaker, which begins with
  /// the activation of the session.
  func measure(isEncrypted: Bool, into report: inout SetupReport) throws {
    let port = Int.random(in: 20_000...30_000)
    let heard = folder.appendingPathComponent("heard.wav")
    let common = ["--json", "--security", isEncrypted ? "required" : "off"]
    let listener = try start(
      ["listen", "--answer", "--listen", "127.0.0.1:\(port)"]
        + ["--capture", "null", "--playback", "file:\(heard.path)"] + common,
      "listen"
    )
    defer { listener.stop() }
    guard listener.waits(for: "registered", seconds: 10) else {
      throw RigError("sidetone does not listen: \(listener.output)")
    }
    let caller = try start(
      ["call", "sip:b@127.0.0.1:\(port)", "--listen", "127.0.0.1:0", "--duration", "0.5"]
        + ["--capture", "file:\(tone.path)", "--playback", "null"] + common,
      "call"
    )
    defer { caller.stop() }
    guard caller.waits(for: "\"ended\"", seconds: 20), listener.waits(for: "\"ended\"", seconds: 5)
    else { throw RigError("the call did not end: \(caller.output)") }
    listener.stop()
    let times = try caller.eventTimes()
    guard let calling = times["calling"], let connected = times["connected"] else {
      throw RigError("the call was not connected: \(caller.output)")
    }
    let recording = try SoundFile(parsing: Array(Data(contentsOf: heard)))
    guard let first = recording.samples.firstIndex(where: { abs($0) > 0.01 }) else {
      throw RigError("the tone was not heard: \(listener.output)")
    }
    let milliseconds = Double(first) / Double(recording.rateHertz) * 1_000
    if isEncrypted {
      report.encryptedToConnected.append(connected - calling)
      report.encryptedToHeard.append(milliseconds)
    } else {
      report.openToConnected.append(connected - calling)
      report.openToHeard.append(milliseconds)
    }
  }

  private func start(_ arguments: [String], _ name: String) throws -> RunningProgram {
    try RunningProgram(
      Invocation(program, arguments),
      // Both sides keep what they remember apart from the user's.
      environment: ["XDG_DATA_HOME": folder.appendingPathComponent("data").path],
      log: folder.appendingPathComponent("\(name).log")
    )
  }
}

extension RunningProgram {
  /// Returns the time of each event's first occurrence in the program's JSON output, in
  /// milliseconds by the program's clock.
  fileprivate func eventTimes() throws -> [String: Double] {
    struct Event: Decodable {
      let event: String
      let at: Double
    }
    let events = output.split(separator: "\n").compactMap { line in
      // Other lines are the log's.
      try? JSONDecoder().decode(Event.self, from: Data(line.utf8))
    }
    return Dictionary(events.map { ($0.event, $0.at) }) { first, _ in first }
  }
}
