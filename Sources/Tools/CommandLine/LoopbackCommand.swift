import ALSAAudio
import AVFAudio
import ArgumentParser
import Foundation
import Localization
import MediaCore
import SRTP
import SpeechDSP
import UDPTransport
import VoiceEngine

struct LoopbackCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "loopback",
    abstract: "Call yourself, and measure mouth-to-ear delay.",
    usage: "sidetone loopback [<options>]",
    discussion: HelpScreen.discussion(
      of: "loopback",
      """
      Without --headset a virtual microphone hears the probe. With a real one the loudspeaker \
      sounds the probe and the microphone has to hear it: hold them together. Measured is from the \
      microphone's converter to the loudspeaker's, without the air between them.
      """
    )
  )

  @Option(help: ArgumentHelp("How long to measure.", valueName: "seconds"))
  var duration = 15

  @Flag(help: "Print the result as JSON.")
  var json = false

  @Flag(help: "Time each packet in each stage, and print the waterfall.")
  var breakdown = false

  @Option(
    help: ArgumentHelp("With --breakdown: draw the waterfall there, as SVG.", valueName: "path")
  )
  var plot: String?

  @OptionGroup var voiceOptions: VoiceOptions
  @OptionGroup var deviceOptions: DeviceOptions

  func validate() throws {
    guard (3...3_600).contains(duration) else {
      throw ValidationError(localized: "--duration is between 3 and 3600")
    }
    guard plot == nil || breakdown else {
      throw ValidationError(localized: "--plot needs --breakdown")
    }
  }

  func run() async throws {
    try deviceOptions.checkFiles(beside: [("--plot", plot)])
    do {
      let measurement = try await measure()
      guard let report = LoopbackReport(measurement)
      else {
        throw CommandFailure(
          "the probe was not heard; bring the microphone to the loudspeaker and turn both up"
        )
      }
      print(json ? report.json : report.text)
      if let plot { try draw(measurement.breakdown, to: plot) }
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure(reason: "\(error)")
    }
  }

  private func draw(_ breakdown: StageBreakdown, to path: String) throws {
    do {
      try breakdown.svg.write(toFile: path, atomically: false, encoding: .utf8)
    } catch {
      throw CommandFailure("cannot write \"\(path)\": \(error.localizedDescription)")
    }
  }

  private func measure() async throws -> LoopbackMeasurement {
    let isVirtual =
      deviceOptions.headset == nil && deviceOptions.capture == nil && deviceOptions.playback == nil
    return try await LoopbackCall(
      seconds: duration,
      devices: isVirtual ? nil : deviceOptions.devices,
      wishes: deviceOptions.wishes,
      filters: deviceOptions.filters,
      stream: voiceOptions.stream,
      timesStages: breakdown
    ).measure()
  }
}

/// A call to oneself over the loopback interface.
struct LoopbackCall {
  var seconds: Int
  /// Devices of the call; nil for a virtual headset, whose microphone hears the probe.
  var devices: AVAudioSession.Devices?
  var wishes = DeviceWishes()
  var filters = SpeechFilterSettings()
  var stream: StreamConfiguration
  /// True to time each packet in each stage.
  var timesStages = false

  /// Makes the call, and returns what it recorded and measured.
  func measure() async throws -> LoopbackMeasurement {
    let probe = FileManager.default.temporaryDirectory
      .appendingPathComponent("sidetone-probe-\(ProcessInfo.processInfo.processIdentifier).wav")
    defer { try? FileManager.default.removeItem(at: probe) }
    if devices == nil {
      let samples = ProbeSignal.samples(seconds: seconds + 2)
      let file =
        WaveFile.header(rateHertz: 48_000, sampleCount: samples.count) + WaveFile.encode(samples)
      try Data(file).write(to: probe)
    }
    let devices =
      devices ?? AVAudioSession.Devices(capture: .file(probe.path), playback: .null)

    let headset = try Headset(
      capture: devices.capture,
      playback: devices.playback,
      wishes: wishes
    )
    let hearsFile = if case .file = devices.capture { true } else { false }
    let engine = try CallEngine(
      device: headset,
      settings: EngineSettings(
        filters: filters,
        measurement: hearsFile ? .observe : .probe,
        trace: timesStages ? .stages : .off
      )
    )
    defer { engine.stop() }
    var configuration = stream
    // What is measured stays the same from the first probe to the last.
    configuration.adaptsPackets = false
    let stream = try engine.streams.attach(
      configuration,
      over: SecureTransport(open: MediaSocket.toItself())
    )

    var measurement = LoopbackMeasurement()
    for _ in 0..<seconds * 2 {
      try await Task.sleep(for: .milliseconds(500))
      measurement.add(engine.takeMonitor())
      measurement.breakdown.add(engine.takeStageTimes())
    }
    measurement.device = engine.statistics()
    measurement.stream = engine.streams.statistics(of: stream)
    measurement.breakdown.lookAheadNanoseconds = measurement.stream?.lookAheadNanoseconds ?? 0
    return measurement
  }
}

/// Recordings and statistics of a loopback call.
struct LoopbackMeasurement {
  var captured: [Float] = []
  var played: [Float] = []
  var device: EngineStatistics?
  var stream: StreamStatistics?
  var breakdown = StageBreakdown()

  mutating func add(_ monitor: CallEngine.Monitor) {
    captured += monitor.captured
    played += monitor.played
  }
}

/// Mouth-to-ear delay of each probe, and its parts.
struct LoopbackReport {
  private let delays: [Double]
  /// Number of probes that were said and not heard again.
  let missed: Int
  /// Parts of the delay by stage in milliseconds.
  let stages: [(name: String, milliseconds: Double)]
  private let breakdown: StageBreakdown

  /// Creates a report on all but the first second, in which the playout still looks for its delay.
  ///
  /// Nil if no probe was heard.
  init?(_ measurement: LoopbackMeasurement) {
    guard let device = measurement.device, let stream = measurement.stream else { return nil }
    let origin = Double(device.playbackOrigin - device.captureOrigin) / 1e6
    var delays: [Double] = []
    var missed = 0
    for second in 1..<max(2, measurement.captured.count / 48_000) {
      let window = second * 48_000..<(second + 1) * 48_000
      guard let said = ProbeSignal.find(in: measurement.captured, range: window) else { continue }
      let expected = Int(said - origin * 48)
      guard
        let heard = ProbeSignal.find(in: measurement.played, range: expected..<expected + 24_000)
      else {
        // The last one may come after the end of the recording.
        missed += expected + 24_000 <= measurement.played.count ? 1 : 0
        continue
      }
      delays.append(origin + (heard - said) / 48)
    }
    guard !delays.isEmpty else { return nil }
    self.delays = delays.sorted()
    self.missed = missed
    breakdown = measurement.breakdown
    let parts = DelayStages(stream, device)
    let conversion = Double(device.captureProcessingNanoseconds) / 1e6
    stages = [
      ("capture period", parts[.microphone] - conversion),
      ("rate conversion and filters", Double(device.processingNanoseconds) / 1e6),
      ("rest of the packet", parts[.packet]),
      ("look-ahead", parts[.lookAhead]),
      ("network (half the round trip)", parts[.network]),
      ("playout beyond the fastest packet", parts[.playout]),
      ("playback fill", Double(device.playbackFillNanoseconds) / 1e6),
    ]
  }

  /// Median delay of the probes, in milliseconds.
  var median: Double { percentile(0.5) }

  private func percentile(_ share: Double) -> Double {
    delays[min(delays.count - 1, Int(share * Double(delays.count)))]
  }

  var text: String {
    let figures = String(
      format: "mouth to ear: median %.1f ms, 95th percentile %.1f ms, of %d probes",
      percentile(0.5),
      percentile(0.95),
      delays.count
    )
    let head = figures + (missed > 0 ? "; \(missed) more were not heard: sound was lost" : "")
    guard breakdown.rows.isEmpty else { return head + "\n" + breakdown.text }
    let rows = stages.map { stage in
      "  " + stage.name.padding(toLength: 36, withPad: " ", startingAt: 0)
        + String(format: "%6.1f ms", stage.milliseconds)
    }
    let title = "where it goes, in the mean (--breakdown has each packet):"
    return ([head, title] + rows).joined(separator: "\n")
  }

  var json: String {
    var fields: [String: JSONValue] = [
      "medianMs": .number(percentile(0.5)), "percentile95Ms": .number(percentile(0.95)),
      "probes": .count(delays.count), "missedProbes": .count(missed),
    ]
    let stages = stages.map { ($0.name, JSONValue.number($0.milliseconds)) }
    fields["stagesMs"] = .object(Dictionary(uniqueKeysWithValues: stages))
    if !breakdown.rows.isEmpty { fields["breakdownMs"] = .object(breakdown.fields) }
    return JSONValue.object(fields).line ?? ""
  }
}
