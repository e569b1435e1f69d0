import Foundation
import ProgramRig
import VoiceEngine

/// A call on a real kernel: the sent and received sound, and the programs' output.
struct HeardCall {
  /// Timeline of the talker, as `fault-probe` writes it.
  private struct Mouth: Decodable {
    struct Stretch: Decodable {
      let frame: Int
      let shift: Int
    }
    let begin: Int64
    let stretches: [Stretch]
  }

  /// A received chirp: the frame at which it was due, and its delay in milliseconds.
  typealias Chirp = (frame: Int, delay: Double)

  /// Frames from one chirp to the next.
  static let interval = 24_000
  /// Time from the beginning of a call until the playout has settled, in milliseconds.
  static let settlingMilliseconds = 3_000.0
  private static let window = 240

  /// Events that the programs printed.
  let events: [[String: Any]]
  /// Time at which both sides were connected, in milliseconds of the machine's clock.
  let connected: Double
  /// Frames of the recording between the settling of the playout and the end of the call.
  let span: Range<Int>
  private let heard: [Float]
  private let mouth: Mouth

  /// Reads the recording in `folder`, with the events of the programs `names`.
  init(in folder: URL, events names: [String]) throws {
    heard = try Self.recording(folder.appendingPathComponent("heard.f32"))
    let mouth = try JSONDecoder().decode(
      Mouth.self,
      from: Data(contentsOf: folder.appendingPathComponent("mouth.json"))
    )
    events = try names.flatMap { try Self.events(folder, $0) }
    let connected = events.filter { $0["event"] as? String == "connected" }
      .compactMap { $0["at"] as? Double }.max()
    let ended = events.filter { $0["event"] as? String == "ended" }
      .compactMap { $0["at"] as? Double }.min()
    guard let connected, let ended else {
      throw RigError("the call did not stand, or did not end; see \(folder.path)")
    }
    self.mouth = mouth
    self.connected = connected
    let begin = max(0, Self.frame(connected + Self.settlingMilliseconds, of: mouth))
    span = begin..<max(begin, min(heard.count, Self.frame(ended, of: mouth) - 4_800))
  }

  /// The frame of the recording at a time of the machine's clock, in milliseconds.
  func frame(_ milliseconds: Double) -> Int { Self.frame(milliseconds, of: mouth) }

  private static func frame(_ milliseconds: Double, of mouth: Mouth) -> Int {
    Int((milliseconds - Double(mouth.begin) / 1e6) * 48)
  }

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

  /// Finds the chirps that were received.
  ///
  /// Each is looked for up to where the next could be taken for it; with `isForeign`, as between
  /// machines with clocks of their own, all the way to the next.
  func chirps(fromAnotherClock isForeign: Bool = false) -> [Chirp] {
    let reach = isForeign ? Self.interval : Self.interval - 3_000
    let first = span.lowerBound / Self.interval + 1
    let frames = stride(
      from: first * Self.interval,
      to: span.upperBound - (isForeign ? 2 : 1) * Self.interval,
      by: Self.interval
    )
    return frames.compactMap { frame in
      guard let stretch = mouth.stretches.last(where: { $0.frame <= frame }) else { return nil }
      let said = frame + stretch.shift
      let found = ProbeSignal.find(in: heard, range: said..<said + reach)
      return found.map { (frame, ($0 - Double(said)) / 48) }
    }
  }

  /// Growth of a counter of the calls' statistics, summed over all ends.
  ///
  /// It is counted from `begin`, in milliseconds of the machine's clock.
  func growth(of counter: String, since begin: Double) -> Double {
    let statistics = events.filter { $0["event"] as? String == "stats" }
    return Dictionary(grouping: statistics) { $0["call"] as? String ?? "" }.values.reduce(0) {
      sum,
      end in
      let before = end.last { ($0["at"] as? Double ?? 0) < begin }?[counter] as? Double ?? 0
      return sum + (end.last?[counter] as? Double ?? before) - before
    }
  }

  /// The longest silence, in milliseconds.
  func longestSilence() -> Double {
    let starts = stride(from: span.lowerBound, to: span.upperBound - Self.window, by: Self.window)
    let levels = starts.map { start in
      heard[start..<start + Self.window].reduce(Float(0)) { $0 + $1 * $1 }
    }
    let usual = Percentiles(levels.map(Double.init)).median
    var longest = 0
    var silent = 0
    for level in levels {
      silent = Double(level) < usual / 8 ? silent + 1 : 0
      longest = max(longest, silent)
    }
    return Double(longest * Self.window) / 48
  }
}
