import Foundation
import ProgramRig
import Testing

/// What was heard in a scenario.
struct Outcome {
  var name: String
  /// The longest silence, in milliseconds.
  var gap = 0.0
  /// Mouth-to-ear delay before the fault, and in the last two seconds of the call, in milliseconds;
  /// 0 if unknown.
  var before = 0.0
  var after = 0.0
  /// What the playout of both ends has invented from the fault on, or since it had settled if there
  /// is none, in milliseconds of sound.
  var invented = 0.0
  /// The same of what time-stretching took out.
  var removed = 0.0
  /// The same of what time-stretching put in.
  var added = 0.0
  /// Whether the voice is heard at the end.
  var isRecovered = false
  /// How often sound devices failed by themselves.
  var deviceFaults = 0
  /// How often a device was exchanged.
  var routeChanges = 0
  /// What is broken.
  var complaints: [String] = []
  /// What took longer than it should.
  var delays: [String] = []

  /// Remarks of the machine's script: when the kernel refuses to sleep, and when a call hangs.
  private static let bad = ["not suspended", "did not end"]

  /// The figures in one line.
  var line: String {
    String(
      format: "%@: silent %.0f ms, delay %.1f then %.1f ms, invented %.0f ms, removed %.0f, "
        + "added %.0f, faults %d, routes %d",
      name,
      gap,
      before,
      after,
      invented,
      removed,
      added,
      deviceFaults,
      routeChanges
    )
  }

  /// Prints the figures, and expects that all is as it should be.
  func expectHeard() {
    print(line)
    #expect(isRecovered, "\(name): the voice is heard at the end")
    #expect(complaints == [], "\(name)")
    #expect(delays == [], "\(name)")
  }

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
    let call = try HeardCall(in: folder, events: ["caller", "callee"])
    let all = try Self.marks(folder)
    // What was arranged before the call is no fault of it.
    let began = all.first { $0.name == "connected" }?.at ?? call.connected
    let faults = all.filter { $0.at >= began && $0.name != "connected" }.map(\.at)
    let marks = faults.map { call.frame($0) }
    let (begin, end) = (call.span.lowerBound, call.span.upperBound)
    let fault = marks.first ?? (begin + end) / 2

    let chirps = call.chirps()
    if scenario.isTimed {
      before = Percentiles(chirps.filter { $0.frame < fault - 24_000 }.map(\.delay)).median
      after = Percentiles(chirps.filter { $0.frame > end - 120_000 }.map(\.delay)).median
    }
    take(call, chirps)
    count(call, since: faults.first)
    let taken = Double((marks.last ?? fault) - fault) / 48
    let allowed = scenario.gapMilliseconds + (scenario.isFaultSilent ? taken : 0)
    judge(allowed: allowed, call, ends: 2)
    complaints += all.map(\.name).filter { Self.bad.contains($0) }
    if scenario.isOfTheNetwork { return }
    if abs(after - before) > Scenario.delayTolerance { delays.append("another delay") }
  }

  /// What one of two machines heard of the other, with the delay that both together have on
  /// average.
  init(_ name: String, of call: HeardCall, chirps: [HeardCall.Chirp], meanDelay: Double) {
    self.name = name
    before = meanDelay
    after = meanDelay
    take(call, chirps)
    count(call, since: nil)
    // Two machines live in this one's time, and stand still when it does.
    judge(allowed: nil, call, ends: 1)
  }

  private mutating func count(_ call: HeardCall, since fault: Double?) {
    let begin = fault ?? call.connected + HeardCall.settlingMilliseconds
    invented = call.growth(of: "concealedMs", since: begin)
    removed = call.growth(of: "removedMs", since: begin)
    added = call.growth(of: "addedMs", since: begin)
  }

  private mutating func take(_ call: HeardCall, _ chirps: [HeardCall.Chirp]) {
    gap = call.longestSilence()
    isRecovered = chirps.contains { $0.frame > call.span.upperBound - 84_000 }
    let last = call.events.last { $0["event"] as? String == "stats" } ?? [:]
    deviceFaults = (last["overruns"] as? Int ?? 0) + (last["underruns"] as? Int ?? 0)
    routeChanges = call.events.filter { $0["event"] as? String == "routeChanged" }.count
  }

  private mutating func judge(allowed: Double?, _ call: HeardCall, ends count: Int) {
    if let allowed, gap > allowed { delays.append("silent for more than \(Int(allowed)) ms") }
    if !isRecovered { complaints.append("not heard afterwards") }
    let ends = call.events.filter { $0["event"] as? String == "ended" }
    if ends.count != count || ends.contains(where: { $0["clean"] as? Bool != true }) {
      complaints.append("not ended well")
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
}
