import MediaCore
import Testing

@testable import ALSAAudio

struct WaveFileTests {
  @Test func writtenFileIsReadBack() throws {
    let samples: [Float] = (0..<500).map { Float($0 % 100) / 100 - 0.5 }
    let bytes =
      WaveFile.header(rateHertz: 16_000, sampleCount: samples.count) + WaveFile.encode(samples)
    let wave = try WaveFile(parsing: bytes)
    #expect(wave.rateHertz == 16_000)
    #expect(wave.samples.count == 500)
    #expect(zip(wave.samples, samples).allSatisfy { abs($0 - $1) < 1e-4 })
  }

  @Test func truncatedSoundEndsWithTheFile() throws {
    let bytes =
      WaveFile.header(rateHertz: 8_000, sampleCount: 1_000)
      + WaveFile.encode([Float](repeating: 0.5, count: 10))
    #expect(try WaveFile(parsing: bytes).samples.count == 10)
  }

  @Test func otherFilesAreRefused() {
    #expect(throws: WaveFile.ParseError.notWave) { try WaveFile(parsing: []) }
    #expect(throws: WaveFile.ParseError.notWave) {
      try WaveFile(parsing: Array("<!doctype html>".utf8))
    }
    #expect(throws: WaveFile.ParseError.damaged) {
      try WaveFile(parsing: Array(WaveFile.header(rateHertz: 8_000, sampleCount: 0).prefix(30)))
    }
  }

  @Test(arguments: UInt64(1)...4)
  func damagedHeadersNeverTrap(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let good =
      WaveFile.header(rateHertz: 8_000, sampleCount: 50)
      + WaveFile.encode([Float](repeating: 0.5, count: 50))
    for _ in 0..<5_000 {
      var bytes = Array(good.prefix(Int.random(in: 0...good.count, using: &random)))
      for _ in 0..<Int.random(in: 1...6, using: &random) where !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] =
          UInt8.random(in: 0...255, using: &random)
      }
      // Refused, or a sound that a device can play.
      guard let wave = try? WaveFile(parsing: bytes) else { continue }
      #expect((1_000...384_000).contains(wave.rateHertz) && wave.samples.count <= bytes.count)
    }
  }

  @Test func hugeRecordingHasALegalHeader() {
    #expect(WaveFile.header(rateHertz: 48_000, sampleCount: 1 << 40).count == 44)
  }
}
