import ArgumentParser
import Drawing
import Foundation
import Simulation
import VoiceEngine

struct AnalyseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "analyse",
    abstract: "Tell what a network did to the RTP streams in a capture.",
    usage: "sidetone analyse [<options>] <capture>",
    discussion: """
      The capture is one of tcpdump or Wireshark, best of the machine that received. Of each \
      stream it shows codec and clock with how they are known, losses, jitter (RFC 3550), delay \
      beyond the fastest packet and the drift of the sender's clock; of the stream that is a \
      call's voice also what a call on such a network would be.
      """,
    shouldDisplay: !HelpScreen.isShort
  )

  @Argument(help: "The capture; - is the standard input.")
  var capture: String

  @Option(
    help: ArgumentHelp("Only the stream of this number, or SSRC (0x...).", valueName: "number")
  )
  var stream: String?

  @Option(
    help: ArgumentHelp(
      "How often timestamps of dynamic payload types count a second.",
      valueName: "hertz"
    )
  )
  var clock: Int?

  @Flag(help: "Print the result as JSON, an object for each stream.")
  var json = false

  @Option(help: ArgumentHelp("Draw delay and losses there, as SVG.", valueName: "path"))
  var plot: String?

  func validate() throws {
    guard clock.map({ (1_000...1_000_000).contains($0) }) ?? true else {
      throw ValidationError("--clock is between 1000 and 1000000")
    }
  }

  func run() throws {
    try OutputPaths.check([("--plot", plot)], against: [("the capture", capture)])
    guard let file = try CaptureReading.capture(inFileOrPipe: capture) else {
      throw CommandFailure(reason: "\"\(capture)\" is no capture of tcpdump or Wireshark")
    }
    let streams = file.streams(clockRate: clock)
    let voice: CapturedStream?
    do {
      voice = try PacketCapture.choose(among: streams, named: stream, obstacles: file.obstacles)
    } catch .ambiguous where stream == nil {
      voice = nil
      Terminal.printError("sidetone: which of these is the call's voice is not clear: --stream")
    } catch {
      throw CommandFailure(reason: "\"\(capture)\" \(error)")
    }
    let call = try voice.flatMap { one in
      // What this machine sent has crossed no network yet.
      one.hasDelays && one.isOutgoing != true ? try CallForecast(one) : nil
    }
    for one in streams where stream == nil || one.number == voice?.number {
      let report = StreamReport(one, call: one.number == voice?.number ? call : nil)
      print(json ? report.json : report.text)
    }
    for obstacle in file.obstacles { Terminal.printError("sidetone: \(obstacle)") }
    guard let plot else { return }
    guard let shown = voice else {
      throw CommandFailure(reason: "--plot draws one stream: choose it by --stream")
    }
    guard shown.hasDelays else {
      throw CommandFailure(reason: "--plot draws delays, and those of this stream are not known")
    }
    do {
      try Data(shown.chart.utf8).write(to: URL(fileURLWithPath: plot))
    } catch {
      throw CommandFailure(reason: "cannot write \"\(plot)\": \(error.localizedDescription)")
    }
  }
}

/// Forecast of a call's delay and concealment, on the network that a captured stream has crossed.
struct CallForecast {
  /// Median mouth-to-ear delay in milliseconds; NaN if nothing is heard.
  let delay: Double
  /// Share of the sound that is concealed, in percent.
  let concealed: Double
  /// Duration of the call in seconds.
  let seconds: Double

  /// Longest part of a capture that is examined, from its beginning, in seconds.
  static let longestSeconds = 60.0

  init(_ stream: CapturedStream) throws {
    var far = SimulatedCall.Party()
    far.card.sound = Self.syllables
    far.card.isRecorded = false
    var near = SimulatedCall.Party()
    near.maySend = false
    near.card.isRecorded = false
    let path = try stream.trace()
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 1, withCopies: true)
    configuration.adaptsPackets = true
    let call = try SimulatedCall(
      near: near,
      far: far,
      towardsNear: path,
      towardsFar: path,
      configuration: configuration,
      seed: 1,
      threads: .one
    )
    var delays: [Double] = []
    var newest: SimulatedCall.Observation?
    seconds = min(Self.longestSeconds, max(10, stream.duration))
    call.run(seconds: seconds) { observation in
      newest = observation
      if let delay = observation.delay, observation.second > 1 { delays.append(delay) }
    }
    delays.sort()
    delay = delays.isEmpty ? .nan : delays[delays.count / 2]
    let figures = newest?.stream
    let made = Double(figures?.concealedFrames ?? 0)
    let all = made + Double((figures?.decodedFrames ?? 0) + (figures?.recoveredFrames ?? 0))
    concealed = 100 * made / max(1, all)
  }

  // Ten seconds of noise that rises and falls as speech does, with pauses.
  private static let syllables: [Float] = {
    var random: UInt64 = 1
    return (0..<480_000).map { frame in
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let noise = Float(random >> 40) / Float(1 << 23) - 1
      let second = Float(frame) / 48_000
      let isPause = Int(second * 2) % 4 == 3
      return isPause ? 0 : noise * 0.1 * abs(sin(second * 4 * .pi))
    }
  }()
}

/// The figures of a captured stream.
struct StreamReport {
  private let stream: CapturedStream
  private let call: CallForecast?

  init(_ stream: CapturedStream, call: CallForecast?) {
    self.stream = stream
    self.call = call
  }

  private var bursts: String {
    let all = stream.bursts.sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key)" }
    // The longest are those that are heard.
    let shown = all.count > 8 ? all.prefix(5) + ["..."] + all.suffix(2) : all[...]
    return shown.joined(separator: ", ")
  }

  private var direction: String {
    switch stream.isOutgoing {
    case true?: "  sent by the machine of the capture: what the network did to it is not in there"
    case false?: "  received by the machine of the capture"
    case nil: "  whether the machine of the capture received it is not known"
    }
  }

  var text: String {
    func number(_ value: Double) -> String { String(format: "%.2f", value) }
    let shares = [(0.5, " ms (median)"), (0.95, " (95 %)"), (0.99, " (99 %)"), (1, " at most")]
    let delays = shares.map { number(stream.delay($0.0)) + $0.1 }.joined(separator: ", ")
    var rows = [
      "stream \(stream.summary)",
      direction,
      "  lost \(stream.lost) of \(stream.lost + stream.received)"
        + (bursts.isEmpty ? "" : ", in a row: \(bursts)"),
      "  twice \(stream.duplicates), out of order \(stream.reordered), of keys \(stream.keys)",
      "  jitter "
        + (stream.hasDelays
          ? "\(number(stream.jitter.mean)) ms in the mean, \(number(stream.jitter.most)) at most"
          : "not known"),
      "  longest pause \(number(stream.longestGap)) ms",
      "  delay beyond the fastest: "
        + (stream.hasDelays ? delays : "not known, as timestamps and times do not agree"),
      "  the sender's clock: "
        + (stream.skew.map { String(format: "%+.1f ppm", $0) } ?? "not known"),
    ]
    if stream.formats.count > 1 {
      let all = stream.formats.map { "\($0.format.name ?? "\($0.payloadType)") \($0.count)" }
      rows.append("  packets by codec: " + all.joined(separator: ", "))
    }
    if 5 * stream.duplicates > stream.received {
      rows.append(
        "  much of it is there twice, as in captures at two places that were merged: "
          + "of each packet the first one counts"
      )
    }
    if stream.restarts > 0 || stream.beginnings > 1 {
      rows.append(
        "  numbering begun anew \(stream.restarts) times, timestamps \(stream.beginnings - 1)"
      )
    }
    if let said = stream.report {
      let jitter = Double(said.jitter) * 1_000 / Double(stream.format.clockRate)
      rows.append("  its receiver's own figures: lost \(said.lost), jitter \(number(jitter)) ms")
    }
    if let call, call.delay.isFinite {
      rows.append(
        (stream.duration > CallForecast.longestSeconds
          ? "  a call there in the first minute: " : "  a call there: ")
          + "\(number(call.delay)) ms from mouth to ear in the median, "
          + "\(number(call.concealed)) % concealed"
      )
    }
    return rows.joined(separator: "\n")
  }

  // Null if it is not known.
  private func delay(_ share: Double) -> JSONValue {
    stream.hasDelays ? .number(stream.delay(share)) : .null
  }

  var json: String {
    var fields: [String: JSONValue] = [
      "stream": .integer(Int64(stream.number)), "source": .text("\(stream.source)"),
      "destination": .text("\(stream.destination)"), "ssrc": .integer(Int64(stream.ssrc)),
      "payloadType": .integer(Int64(stream.formats[0].payloadType)),
      "codec": stream.format.name.map { .text($0) } ?? .null,
      "clockHertz": .integer(Int64(stream.format.clockRate)),
      "clockKnownBy": .text(stream.format.origin.rawValue),
      "packets": .integer(Int64(stream.received)), "lost": .integer(Int64(stream.lost)),
      "duplicates": .integer(Int64(stream.duplicates)),
      "reordered": .integer(Int64(stream.reordered)), "keys": .integer(Int64(stream.keys)),
      "restarts": .integer(Int64(stream.restarts)),
      "timestampJumps": .integer(Int64(stream.beginnings - 1)),
      "seconds": .number(stream.duration),
      "jitterMeanMs": stream.hasDelays ? .number(stream.jitter.mean) : .null,
      "jitterMaxMs": stream.hasDelays ? .number(stream.jitter.most) : .null,
      "longestPauseMs": .number(stream.longestGap),
      "delayMedianMs": delay(0.5), "delay95Ms": delay(0.95),
      "delay99Ms": delay(0.99), "delayMaxMs": delay(1),
      "skewPpm": stream.skew.map { .number($0) } ?? .null,
      "outgoing": stream.isOutgoing.map { .flag($0) } ?? .null,
    ]
    fields["bursts"] = .object(
      Dictionary(uniqueKeysWithValues: stream.bursts.map { ("\($0)", .integer(Int64($1))) })
    )
    if let said = stream.report {
      fields["receiverLost"] = .integer(Int64(said.lost))
      fields["receiverJitterTicks"] = .integer(Int64(said.jitter))
    }
    if let call, call.delay.isFinite {
      fields["callDelayMs"] = .number(call.delay)
      fields["callConcealedPercent"] = .number(call.concealed)
      fields["callSeconds"] = .number(call.seconds)
    }
    return JSONValue.object(fields).line ?? ""
  }
}

extension CapturedStream {
  /// Delay and losses over time, as SVG.
  var chart: String {
    let moments = self.moments(most: 4_000)
    return Chart(
      title: "\(source) to \(destination), \(format.name ?? "type \(formats[0].payloadType)")",
      horizontal: Axis("time (s)"),
      vertical: Axis("ms, packets", range: 0...max(10, delay(1) * 1.05)),
      series: [
        Chart.Series(
          "delay beyond the fastest (ms)",
          moments.map { Point(x: $0.second, y: $0.delay) },
          mark: .dots
        ),
        Chart.Series(
          "lost before a packet",
          moments.filter { $0.lost > 0 }.map { Point(x: $0.second, y: Double($0.lost)) },
          mark: .rings
        ),
      ]
    ).svg()
  }
}
