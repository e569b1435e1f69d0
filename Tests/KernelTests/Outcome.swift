import Foundation
import ProgramRig
import Testing

/// Sound received in a scenario, in figures.
struct Outcome {
  var name: String
  /// The longest silence, in milliseconds.
  var gap = 0.0
  /// Mouth-to-ear delay before the fault, and in the last two seconds of the call, in milliseconds;
  /// 0 if unknown.
  var before = 0.0
  var after = 0.0
  /// Concealed sound at both ends, in milliseconds.
  ///
  /// It is counted from the fault on, or from when the playout had settled if there is no fault.
  var invented = 0.0
  /// Sound that time-stretching removed at both ends in the same time, in milliseconds.
  var removed = 0.0
  /// Sound that time-stretching added at both ends in the same time, in milliseconds.
  var added = 0.0
  /// True if the voice is received at the end.
  var isRecovered = false
  /// Number of overruns and underruns of sound devices.
  var deviceFaults = 0
  /// Number of times that a device was replaced.
  var routeChanges = 0
  /// Faults: a call not heard or not ended well, and remarks of the machine's script.
  var complaints: [String] = []
  /// Silence that lasted too long, and a delay that has changed.
  var delays: [String] = []

  /// Remarks of the machine's script: the kernel refused to suspend, or a call hung.
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

  /// Prints the figures, and expects no faults and no excessive delays.
  func expectHeard() {
    print(line)
    #expect(isRecovered, "\(name): the voice is heard at the end")
    #expect(complaints == [], "\(name)")
    #expect(delays == [], "\(name)")
  }

  /// Reads the files that the scenario left in `folder`.
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

  /// Sound that one of two machines received from the other.
  ///
  /// `meanDelay` is the mean of both directions, in milliseconds.
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
