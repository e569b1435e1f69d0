import ALSAAudio
@testable import CallScreen
import CallState
import Foundation
import MediaCore
import Testing

struct RingerTests {
  @Test func toneSoundsForTwoSecondsOfSix() {
    let rate = SampleRate(hertz: 8_000)
    func power(_ second: Int) -> Float {
      (second * 8_000..<(second + 1) * 8_000).reduce(0) { sum, frame in
        let sample = RingTone.systemSample(at: frame, rate: rate)
        return sum + sample * sample / 8_000
      }
    }
    #expect((0..<7).map { power($0) > 0.005 } == [true, true, false, false, false, false, true])
  }

  @Test func toneGoesOnFromBlockToBlock() {
    let rate = SampleRate(hertz: 8_000)
    var tone = RingTone(named: nil)
    var block = SampleBuffer(repeating: 0, count: 99)
    for number in 0..<3 {
      #expect(tone.fill(&block, count: 99, at: rate) == 99)
      for index in 0..<99 {
        #expect(block[index] == RingTone.systemSample(at: 99 * number + index, rate: rate))
      }
    }
  }

  @Test func appsSoundRepeatsAndOneThatCannotBeReadLeavesTheSystems() throws {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("tone-\(UUID().uuidString).wav")
    let sound: [Float] = (0..<400).map { $0 < 200 ? 0.5 : -0.25 }
    let bytes =
      WaveFile.header(rateHertz: 4_000, sampleCount: sound.count) + WaveFile.encode(sound)
    try Data(bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let rate = SampleRate(hertz: 8_000)
    var tone = RingTone(named: file.path)
    var block = SampleBuffer(repeating: 0, count: 1_600)
    #expect(tone.fill(&block, count: 1_600, at: rate) == 1_600)
    for (frame, expected) in [(10, 0.5), (500, -0.25), (800 + 10, 0.5), (1_300, -0.25)] {
      #expect(abs(block[frame] - Float(expected)) < 0.001)
    }
    for name in ["missing.caf", "", "/etc/hostname"] {
      guard case .system = RingTone(named: name) else {
        Issue.record("\(name) was taken for a sound")
        continue
      }
    }
  }

  @Test func ringerPlaysWhileACallRingsAndReleasesTheDeviceThen() throws {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("ring-\(UUID().uuidString).wav")
    let ringer = Ringer(device: .file(file.path))
    var calls = RingingCalls()
    let call = CallID(high: 0, low: 1)
    try calls.ring(call)
    ringer.present(calls.control.presentation)
    while (try? Data(contentsOf: file).count) ?? 0 < 20_000 {}
    calls.control.decide(.incoming(call, .answer), at: calls.now)
    // Answering ends the ringing before the app hears of it; it returns with the device released.
    ringer.present(calls.control.presentation)
    let data = try Data(contentsOf: file)
    let peak = stride(from: 44, to: data.count - 1, by: 2).map { index in
      abs(Int(Int16(bitPattern: UInt16(data[index]) | UInt16(data[index + 1]) << 8)))
    }.max()
    #expect((peak ?? 0) > 1_000)
  }

  @Test func deviceThatHangsKeepsNoCallWaiting() throws {
    let pipe = FileManager.default.temporaryDirectory
      .appendingPathComponent("ring-\(UUID().uuidString)").path
    let isMade = unsafe mkfifo(pipe, 0o600) == 0
    try #require(isMade)
    defer { unsafe unlink(pipe) }
    // Nothing reads it, so it does not open.
    let ringer = Ringer(device: .file(pipe))
    var calls = RingingCalls()
    let call = CallID(high: 0, low: 1)
    try calls.ring(call)
    ringer.present(calls.control.presentation)
    calls.control.decide(.incoming(call, .answer), at: calls.now)
    ringer.present(calls.control.presentation)
    // The thread ends once somebody does.
    let descriptor = unsafe open(pipe, O_RDONLY | O_NONBLOCK)
    #expect(descriptor >= 0)
    close(descriptor)
  }
}
