import ProgramRig
import ALSAAudio
import AVFAudio
import ArgumentParser
import CRawVoice
import Foundation
import MediaCore
import RealTime
import Rig
import SpeechDSP
import SRTP
import UDPTransport
import VoiceEngine

/// Processor time of a call beside that of the libraries that every caller needs.
///
/// All variants work through the same speech on a real-time thread, by turns, at the pace of a
/// call: a processor that has slept in between has cold caches, and each wake-up costs time. The
/// baseline is the smallest caller that can be written in C, which wakes once for each packet; the
/// voice thread wakes once in each period of its device. `bench counters` has the cost of the code
/// alone.
struct CostCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cost",
    abstract: "The voice thread's processor time against libopus and libspeexdsp in plain C."
  )

  @OptionGroup var options: BenchOptions

  private var seconds: Int { options.seconds ?? 10 }

  func run() throws {
    let work = try WorkFolder()
    defer { work.remove() }
    let conversation = try Conversation(in: work.url)
    // Speech alone, without the chirps.
    let once = conversation.utterances.joined().flatMap(\.samples)
    // As often as it takes: the virtual microphone hears a file once.
    let rounds = (seconds + 3) * 48_000 / once.count + 1
    let speech = (0..<rounds).flatMap { _ in once }
    let file = work.url.appendingPathComponent("speech.wav")
    let wave =
      WaveFile.header(rateHertz: 48_000, sampleCount: speech.count) + WaveFile.encode(speech)
    try Data(wave).write(to: file)

    var rows: [CostRow] = []
    let settings = CostSetting.all.filter { options.wants($0.name) }
    guard !settings.isEmpty else { throw ValidationError("no setting is called like that") }
    try Processors.keeping(toOne: true) {
      for setting in settings {
        var row = CostRow(setting: setting.name)
        for _ in 0..<(options.repeats ?? 5) {
          row.caller.append(try caller(setting, saying: speech))
          row.raw.append(try raw(setting, saying: speech))
          row.ours.append(try ours(setting, saying: file.path))
        }
        print(row.line)
        fflush(nil)
        rows.append(row)
      }
    }
    guard let folder = options.results() else { return }
    try CostReport(rows: rows).write(to: folder)
  }

  /// Returns the milliseconds of processor time that the libraries alone take for each second of
  /// call, at the pace of a call.
  private func raw(_ setting: CostSetting, saying speech: [Float]) throws -> Double {
    let frames = setting.packetFrames
    let turns = setting.packetCount(in: seconds)
    return try unsafe spent(setting) { voice in
      let samples = SampleBuffer(speech)
      var block = SampleBuffer(repeating: 0, count: frames)
      var output = [Float](repeating: 0, count: 5_760)
      var sum: Int64 = 0
      let begin = MonotonicClock.now()
      for turn in 0..<turns {
        let due = begin.advanced(
          byNanoseconds: Int64(turn) * Int64(frames) * 1_000_000_000 / 48_000
        )
        let wait = due.nanoseconds(since: MonotonicClock.now())
        if wait > 0 { usleep(UInt32(wait / 1_000)) }
        // The voice thread is measured from its second second on.
        let start = (48_000 + turn * frames) % (speech.count - frames)
        block.copy(from: samples, at: start, count: frames)
        sum += unsafe raw_voice_turn(voice, block.address, &output)
      }
      return sum
    }
  }

  /// Returns the milliseconds of processor time for each second of call that a caller in plain C
  /// takes, which also waits, sends and receives.
  private func caller(_ setting: CostSetting, saying speech: [Float]) throws -> Double {
    let packets = Int32(setting.packetCount(in: seconds))
    return try unsafe spent(setting) { voice in
      unsafe raw_voice_call(voice, speech, Int64(speech.count), packets)
    }
  }

  /// Returns the processor time that `work` reports, in milliseconds for each second of call.
  ///
  /// It runs on a real-time thread with a raw voice of its own.
  private func spent(
    _ setting: CostSetting,
    by work: @escaping @Sendable (OpaquePointer) -> Int64
  ) throws -> Double {
    let nanoseconds = try unsafe RawVoice.run(
      packetFrames: setting.packetFrames,
      bitrate: setting.bitrate,
      areFiltersOn: !setting.filters.isEmpty,
      work
    )
    guard nanoseconds > 0 else { throw RigError("a timer or a socket was refused") }
    return milliseconds(nanoseconds)
  }

  /// Converts nanoseconds of a measurement to milliseconds for each second of call.
  private func milliseconds(_ nanoseconds: Int64) -> Double {
    Double(nanoseconds) / 1e6 / Double(seconds)
  }

  // Counters come ten times a second: a tenth of a second at either end is not known.
  private func areAll(_ packets: Int64, but lost: Int, of setting: CostSetting) -> Bool {
    let expected = setting.packetCount(in: seconds)
    return packets >= Int64(expected - expected / seconds / 5 - lost)
  }

  /// Returns the milliseconds of processor time that the voice thread takes for each second of a
  /// call to itself.
  private func ours(_ setting: CostSetting, saying path: String) throws -> Double {
    let headset = try Headset(
      capture: .file(path),
      playback: .null,
      wishes: DeviceWishes(periodNanoseconds: setting.periodNanoseconds)
    )
    let engine = try CallEngine(
      device: headset,
      settings: EngineSettings(filters: setting.filters)
    )
    defer { engine.stop() }
    let stream = try engine.streams.attach(
      setting.configuration,
      over: SecureTransport(open: try .toItself())
    )
    Thread.sleep(forTimeInterval: 1)
    let before = unsafe raw_thread_nanoseconds("voice")
    let heard = engine.streams.statistics(of: stream)?.packetsReceived ?? 0
    Thread.sleep(forTimeInterval: Double(seconds))
    let after = unsafe raw_thread_nanoseconds("voice")
    let count = (engine.streams.statistics(of: stream)?.packetsReceived ?? 0) - heard
    let expected = setting.packetCount(in: seconds)
    guard areAll(count, but: expected / 10, of: setting) else {
      throw RigError("only \(count) of \(expected) packets came back")
    }
    return milliseconds(after - before)
  }
}
