import Foundation
import Rig
import VoiceEngine

/// What was heard in a scenario.
struct Outcome: Codable {
  /// The mouth's own account, as `fault-probe` leaves it.
  private struct Mouth: Decodable {
    struct Stretch: Decodable {
      let frame: Int
      let shift: Int
    }
    let begin: Int64
    let stretches: [Stretch]
  }

  var name: String
  /// The longest silence, in milliseconds.
  var gap = 0.0
  /// Mouth-to-ear delay in the two seconds before the fault, and in the last two of the call, in milliseconds.
  var before = 0.0
  var after = 0.0
  /// Whether the voice is heard at the end.
  var isRecovered = false
  /// How often sound devices failed by themselves.
  var deviceFaults = 0
  /// How often a device was exchanged.
  var routeChanges = 0
  /// What is broken.
  var complaints: [String] = []
  /// What took longer than it should: on an emulated processor, its stalls may be the reason.
  var delays: [String] = []

  private static let interval = 24_000
  private static let window = 240

  /// Reads what the scenario left in `folder`.
  init(of scenario: Scenario, in folder: URL) throws {
    name = scenario.name
    guard scenario.isHeard else {
      let file = folder.appendingPathComponent("complaints")
      let said = try String(contentsOf: file, encoding: .utf8)
      complaints = said.split(separator: "\n").map(String.init)
      isRecovered = complaints.isEmpty
      return
    }
    let heard = try Self.recording(folder.appendingPathComponent("heard.f32"))
    let mouth = try JSONDecoder().decode(
      Mouth.self,
      from: Data(contentsOf: folder.appendingPathComponent("mouth.json"))
    )
    let events = try Self.events(folder, "caller") + Self.events(folder, "callee")
    func frame(_ milliseconds: Double) -> Int {
      Int((milliseconds - Double(mouth.begin) / 1e6) * 48)
    }
    let connected = events.filter { $0["event"] as? String == "connected" }
      .compactMap { $0["at"] as? Double }.max()
    let ended = events.filter { $0["event"] as? String == "ended" }
      .compactMap { $0["at"] as? Double }.min()
    guard let connected, let ended else {
      throw RigError("\(scenario.name): the call did not stand, or did not end; see \(folder.path)")
    }
    // Three seconds for the playout to settle.
    let begin = frame(connected) + 144_000
    let end = min(heard.count, frame(ended) - 4_800)
    let all = try Self.marks(folder)
    // What was arranged before the call is no fault of it.
    let began = all.first { $0.name == "connected" }?.at ?? connected
    let marks = all.filter { $0.at >= began && $0.name != "connected" }.map { frame($0.at) }
    let fault = marks.first ?? (begin + end) / 2

    let chirps = Self.chirps(heard, mouth: mouth.stretches, from: begin, to: end)
    before = Percentiles(chirps.filter { $0.frame < fault - 24_000 }.map(\.delay)).median
    after = Percentiles(chirps.filter { $0.frame > end - 120_000 }.map(\.delay)).median
    gap = Self.longestSilence(heard, from: begin, to: end)
    isRecovered = chirps.contains { $0.frame > end - 60_000 }
    let last = events.last { $0["event"] as? String == "stats" } ?? [:]
    deviceFaults = (last["overruns"] as? Int ?? 0) + (last["underruns"] as? Int ?? 0)
    routeChanges = events.filter { $0["event"] as? String == "routeChanged" }.count
    let taken = Double((marks.last ?? fault) - fault) / 48
    let allowed = scenario.gapMilliseconds + (scenario.isFaultSilent ? taken : 0)
    judge(allowed: allowed, events)
    if scenario.isOfTheNetwork { return }
    if abs(after - before) > Scenario.delayTolerance { delays.append("another delay") }
  }

  private mutating func judge(allowed: Double, _ events: [[String: Any]]) {
    if gap > allowed { delays.append("silent for more than \(Int(allowed)) ms") }
    if !isRecovered { complaints.append("not heard afterwards") }
    let ends = events.filter { $0["event"] as? String == "ended" }
    if ends.count != 2 || ends.contains(where: { $0["clean"] as? Bool != true }) {
      complaints.append("not ended well")
    }
  }

  // MARK: What was left

  private static func recording(_ file: URL) throws -> [Float] {
    let data = try Data(contentsOf: file)
    return (0..<data.count / 4).map { index in
      let bits = (0..<4).reduce(UInt32(0)) { $0 | UInt32(data[index * 4 + $1]) << (8 * UInt32($1)) }
      return Float(bitPattern: bits)
    }
  }

  private static func events(_ folder: URL, _ side: String) throws -> [[String: Any]] {
    let text = try String(
      contentsOf: folder.appendingPathComponent("\(side).jsonl"),
      encoding: .utf8
    )
    return text.split(separator: "\n").compactMap { line in
      try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    }
  }

  private static func marks(_ folder: URL) throws -> [(at: Double, name: String)] {
    let file = folder.appendingPathComponent("marks")
    let text = try String(contentsOf: file, encoding: .utf8)
    return text.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ", maxSplits: 1)
      guard words.count == 2, let second = Double(words[0]) else { return nil }
      return (second * 1_000, String(words[1]))
    }
  }

  // MARK: What was heard

  private static func chirps(
    _ heard: [Float],
    mouth: [Mouth.Stretch],
    from begin: Int,
    to end: Int
  ) -> [(frame: Int, delay: Double)] {
    let first = max(0, begin) / interval + 1
    return stride(from: first * interval, to: end - interval, by: interval).compactMap { frame in
      guard let stretch = mouth.last(where: { $0.frame <= frame }) else { return nil }
      let said = frame + stretch.shift
      // Not further than the next chirp could be taken for this one.
      let found = ProbeSignal.find(in: heard, range: said..<said + interval - 3_000)
      return found.map { (frame, ($0 - Double(said)) / 48) }
    }
  }

  private static func longestSilence(_ heard: [Float], from begin: Int, to end: Int) -> Double {
    let levels = stride(from: max(0, begin), to: end - window, by: window).map { start in
      heard[start..<start + window].reduce(Float(0)) { $0 + $1 * $1 }
    }
    let usual = Percentiles(levels.map(Double.init)).median
    var longest = 0
    var silent = 0
    for level in levels {
      silent = Double(level) < usual / 16 ? silent + 1 : 0
      longest = max(longest, silent)
    }
    return Double(longest * window) / 48
  }
}
