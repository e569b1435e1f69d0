import ALSAAudio
import Foundation
import MediaCore
import Testing

@testable import CommandLine

struct SpeechTests {
  private func withFile(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("speech-\(UUID().uuidString).wav")
    try Data(bytes).write(to: file)
    // The temporary directory is removed after all tests.
    defer { try? FileManager.default.removeItem(at: file) }
    try body(file.path)
  }

  private func wave(hertz: Int, _ samples: [Float]) -> [UInt8] {
    WaveFile.header(rateHertz: hertz, sampleCount: samples.count) + WaveFile.encode(samples)
  }

  private func failure(_ body: () throws -> Void) -> String {
    let error = #expect(throws: CommandFailure.self) { try body() }
    return error.map { "\($0)" } ?? ""
  }

  @Test func soundAtTheVoicesRateStaysAsItIs() throws {
    try withFile(wave(hertz: 48_000, [0, 0.25, -0.5])) { path in
      let samples = try Speech.load(path)
      #expect(zip(samples, [0, 0.25, -0.5]).allSatisfy { abs($0 - $1) < 1e-4 })
      #expect(samples.count == 3)
    }
  }

  @Test(arguments: [8_000, 16_000, 44_100])
  func otherRatesAreConverted(hertz: Int) throws {
    let tone = (0..<hertz).map { Float(sin(2 * .pi * 300 * Double($0) / Double(hertz))) / 2 }
    try withFile(wave(hertz: hertz, tone)) { path in
      let samples = try Speech.load(path)
      #expect(abs(samples.count - 48_000) < 500)
      let middle = samples[10_000..<40_000]
      let power = middle.reduce(0) { $0 + $1 * $1 } / Float(middle.count)
      #expect(abs(power - 0.125) < 0.01, "as loud as before")
      let crossings = zip(middle, middle.dropFirst()).count { $0 < 0 && $1 >= 0 }
      #expect(abs(crossings - 187) <= 2, "300 Hz, over 30,000 frames")
    }
  }

  @Test func whatIsWrongWithAFileIsSaid() throws {
    #expect(failure { _ = try Speech.load("/no/such.wav") }.contains("/no/such.wav"))
    try withFile(Array("hello".utf8)) { path in
      #expect(failure { _ = try Speech.load(path) }.contains("is no sound file"))
    }
    try withFile(wave(hertz: 48_000, [])) { path in
      #expect(failure { _ = try Speech.load(path) }.contains("nothing is said"))
    }
  }
}
