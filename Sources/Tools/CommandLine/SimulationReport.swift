import Drawing
import Foundation
import Simulation
import VoiceEngine

/// Report on the sound of a simulated call: its delay, losses and concealment.
///
/// It keeps a summary, not the call: 100 hours take no more memory than twenty minutes.
struct SimulationReport {
  private struct Moment {
    let second: Double
    let delay: Double?
    let target: Double
    let lost: Int64
    let concealed: Int64
  }

  private let network: String
  /// Summary of the captured stream whose network is replayed; nil without one.
  private let stream: String?
  private let seed: UInt64
  /// Points of the chart: each observation of a short call, evenly spaced ones of a long call.
  private var moments: [Moment] = []
  private var observed = 0
  /// Number of observations for each of `moments`.
  private var stride = 1
  private var newest: SimulatedCall.Observation?
  /// Number of observations of each delay, which is in hundredths of a millisecond.
  private var delays: [Int: Int] = [:]
  private var targetSum = 0.0
  /// Datagrams sent towards the listener, and how many of them the network lost.
  var traffic = (sent: 0, lost: 0)
  /// Length of the call in seconds; nil to take the time of the last observation.
  var seconds: Double?
  /// Score of the received sound; nil if it was not scored.
  var quality: PerceivedQuality?

  /// Most moments that a chart can show.
  private static let mostMoments = 12_000
  /// Length of the start, in seconds, in which the playout still looks for its delay.
  private static let settlingSeconds = 1.0
  /// Allowance in milliseconds for the silence at the beginning and the end of every call.
  private static let usualSilence = 500.0

  init(network: String, stream: String? = nil, seed: UInt64) {
    self.network = network
    self.stream = stream
    self.seed = seed
  }

  mutating func add(_ observation: SimulatedCall.Observation) {
    newest = observation
    targetSum += observation.target
    if let delay = observation.delay, observation.second > Self.settlingSeconds {
      delays[Int((delay * 100).rounded()), default: 0] += 1
    }
    defer { observed += 1 }
    guard observed % stride == 0 else { return }
    moments.append(
      Moment(
        second: observation.second,
        delay: observation.delay,
        target: observation.target,
        lost: observation.stream.packetsLost,
        concealed: observation.stream.concealedFrames
      )
    )
    guard moments.count == Self.mostMoments else { return }
    moments = moments.indices.filter { $0 % 2 == 0 }.map { moments[$0] }
    stride *= 2
  }

  private func percentile(_ share: Double) -> Double {
    let count = delays.values.reduce(0, +)
    var left = min(count - 1, Int(share * Double(count)))
    for delay in delays.keys.sorted() {
      left -= delays[delay] ?? 0
      if left < 0 { return Double(delay) / 100 }
    }
    return .nan
  }

  private var meanDelay: Double {
    let sum = delays.reduce(0.0) { $0 + Double($1.key) * Double($1.value) }
    return sum / 100 / Double(delays.values.reduce(0, +))
  }

  /// Median mouth-to-ear delay, in milliseconds.
  var medianDelay: Double { percentile(0.5) }

  private var played: Double {
    guard let stream = newest?.stream else { return 1 }
    return Double(max(1, stream.decodedFrames + stream.concealedFrames + stream.recoveredFrames))
  }

  private var fields: [(name: String, text: String, value: Double)] {
    let stream = newest?.stream
    func milliseconds(_ frames: Int64?) -> Double { Double(frames ?? 0) / 48 }
    func share(_ frames: Int64?) -> Double { 100 * Double(frames ?? 0) / played }
    let scores: [(name: String, text: String, value: Double)] =
      quality.map {
        [("pesq", "PESQ-WB, mean", $0.mean), ("pesqWorst", "PESQ-WB, 5th percentile", $0.worst)]
      } ?? []
    let heard = (newest?.engine.playedFrames ?? 0) - (newest?.engine.silentFrames ?? 0)
    let silent = (seconds ?? 0) * 1_000 - milliseconds(heard)
    let stops =
      silent > Self.usualSilence ? [("silentMs", "the loudspeaker stood still", silent)] : []
    return [
      ("meanMs", "mouth to ear, mean", meanDelay),
      ("medianMs", "mouth to ear, median", medianDelay),
      ("percentile95Ms", "mouth to ear, 95th percentile", percentile(0.95)),
      ("targetMs", "playout target, mean", targetSum / Double(max(1, observed))),
      ("concealedMs", "concealed in all", milliseconds(stream?.concealedFrames)),
      ("concealedPercent", "concealed", share(stream?.concealedFrames)),
      ("recoveredPercent", "recovered from redundancy", share(stream?.recoveredFrames)),
      ("removedPercent", "cut out by time-stretching", share(stream?.removedFrames)),
      ("addedPercent", "put in by time-stretching", share(stream?.addedFrames)),
      (
        "lostPercent", "lost by the network",
        100 * Double(traffic.lost) / Double(max(1, traffic.sent))
      ),
      ("latePackets", "packets too late", Double(stream?.packetsLate ?? 0)),
      ("underruns", "underruns of the loudspeaker", Double(newest?.engine.underruns ?? 0)),
      ("overruns", "overruns of the microphone", Double(newest?.engine.overruns ?? 0)),
    ] + stops + scores
  }

  var text: String {
    let title = "\(network), seed \(seed), \(Int((seconds ?? newest?.second ?? 0).rounded())) s:"
    let rows = fields.map { field in
      let unit =
        field.name.hasSuffix("Ms") ? " ms" : field.name.hasSuffix("Percent") ? " %" : ""
      let isCount = unit.isEmpty && !field.name.hasPrefix("pesq")
      guard field.value.isFinite else { return "  \(field.text): nothing was heard" }
      let digits = isCount ? "%6.0f" : "%8.2f"
      return "  " + field.text.padding(toLength: 32, withPad: " ", startingAt: 0)
        + String(format: digits, field.value) + unit
    }
    let taken = stream.map { ["stream \($0)"] } ?? []
    return (taken + [title] + rows).joined(separator: "\n")
  }

  var json: String {
    var object: [String: JSONValue] = ["network": .text(network), "seed": .unsigned(seed)]
    if let stream { object["stream"] = .text(stream) }
    for field in fields where field.value.isFinite { object[field.name] = .number(field.value) }
    return JSONValue.object(object).line ?? ""
  }

  /// Chart as SVG: delay and target over time, and what was lost and concealed in each second.
  var svg: String {
    var losses: [Point] = []
    var concealments: [Point] = []
    for (earlier, later) in zip(moments, moments.dropFirst(10)) {
      let middle = (earlier.second + later.second) / 2
      let seconds = max(0.1, later.second - earlier.second)
      losses.append(Point(x: middle, y: Double(later.lost - earlier.lost) / seconds))
      let milliseconds = Double(later.concealed - earlier.concealed) / 48
      concealments.append(Point(x: middle, y: milliseconds / seconds))
    }
    return Chart(
      title: "A simulated call, network: \(network), seed \(seed)",
      horizontal: Axis("time (s)"),
      vertical: Axis("ms, ms per second, packets per second", range: 0...50),
      series: [
        Chart.Series(
          "mouth to ear (ms)",
          moments.map { Point(x: $0.second, y: $0.delay ?? .nan) }
        ),
        Chart.Series("playout target (ms)", moments.map { Point(x: $0.second, y: $0.target) }),
        Chart.Series("lost (packets per s)", losses),
        Chart.Series("concealed (ms per s)", concealments),
      ]
    ).svg()
  }
}
