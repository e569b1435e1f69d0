import Foundation
import MediaCore
import Testing

@testable import ALSAAudio

struct SoundFileTests {
  @Test func writtenFileIsReadBack() throws {
    let samples: [Float] = (0..<500).map { Float($0 % 100) / 100 - 0.5 }
    let bytes =
      WaveFile.header(rateHertz: 16_000, sampleCount: samples.count) + WaveFile.encode(samples)
    let wave = try SoundFile(parsing: bytes)
    #expect(wave.rateHertz == 16_000)
    #expect(wave.samples.count == 500)
    #expect(zip(wave.samples, samples).allSatisfy { abs($0 - $1) < 1e-4 })
  }

  @Test func truncatedSoundEndsWithTheFile() throws {
    let bytes =
      WaveFile.header(rateHertz: 8_000, sampleCount: 1_000)
      + WaveFile.encode([Float](repeating: 0.5, count: 10))
    #expect(try SoundFile(parsing: bytes).samples.count == 10)
  }

  @Test func otherFilesAreRefused() {
    for bytes in [[], Array("<!doctype html>".utf8), [UInt8](repeating: 0, count: 4_000)] {
      #expect(throws: SoundFile.ReadError.self) { try SoundFile(parsing: bytes) }
    }
    let long =
      WaveFile.header(rateHertz: 8_000, sampleCount: 9_000)
      + WaveFile.encode([Float](repeating: 0.5, count: 9_000))
    #expect(throws: SoundFile.ReadError.self) { try SoundFile(parsing: long, mostSamples: 8_000) }
  }

  private static func bytes(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private static let tone = (0..<8_000).map { 0.5 * sin(Float($0) / 7) }

  private func file(_ bits: Int, align: Int, channels: Int = 1, _ data: [UInt8]) -> [UInt8] {
    var header = WaveFile.header(
      rateHertz: 8_000,
      sampleCount: data.count / 2,
      channels: UInt8(channels)
    )
    header[32] = UInt8(align)
    header[34] = UInt8(bits)
    return header + data
  }

  /// Files of `arecord -f S24_LE` have 24 bits in the lower three of four bytes.
  @Test func theLowerThreeOfFourBytesAreHeardAsLoudAsTheyAre() throws {
    let data = Self.tone.flatMap { Self.bytes(UInt32(bitPattern: Int32($0 * 8_388_607))) }
    let sound = try SoundFile(parsing: file(24, align: 4, data))
    #expect(zip(sound.samples, Self.tone).allSatisfy { abs($0 - $1) < 1e-5 })
    #expect(sound.samples.count == 8_000)
  }

  /// However quiet it is, and whether or not the fourth byte repeats the sign.
  @Test(arguments: [Float(0.001), 0.01, 1], [true, false])
  func quietSoundInTheLowerThreeOfFourBytesIsNoNoise(level: Float, hasSign: Bool) throws {
    let quiet = [Float](repeating: 0, count: 2_000) + Self.tone.map { $0 * level }
    let data = quiet.flatMap { sample in
      let bytes = Self.bytes(UInt32(bitPattern: Int32(sample * 8_388_607)))
      return hasSign ? bytes : bytes[..<3] + [0]
    }
    let sound = try SoundFile(parsing: file(24, align: 4, data))
    #expect(zip(sound.samples, quiet).allSatisfy { abs($0 - $1) < 1e-5 })
    // In the upper three, the lowest byte is empty.
    let high = quiet.flatMap { Self.bytes(UInt32(bitPattern: Int32($0 * 8_388_607)) << 8) }
    let other = try SoundFile(parsing: file(24, align: 4, high))
    #expect(zip(other.samples, quiet).allSatisfy { abs($0 - $1) < 1e-5 })
  }

  /// A recorder that was killed, or that leaves the length open, writes -1, or more than there is.
  @Test(arguments: [Int64(-1), 1_000_000]) func soundOfCAFEndsWithTheFile(length: Int64) throws {
    func big(_ value: UInt64, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
    }
    let format =
      big(Double(8_000).bitPattern, 8) + Array("lpcm".utf8)
      + [2, 2, 1, 1, 16].flatMap { big($0, 4) }
    let file =
      Array("caff".utf8) + [0, 1, 0, 0] + Array("desc".utf8) + big(32, 8) + format
      + Array("data".utf8) + big(UInt64(bitPattern: length), 8) + [0, 0, 0, 0]
      + WaveFile.encode(Self.tone)
    let sound = try SoundFile(parsing: file)
    #expect(sound.rateHertz == 8_000 && sound.samples.count == 8_000)
    #expect(zip(sound.samples, Self.tone).allSatisfy { abs($0 - $1) < 1e-3 })
  }

  /// A sample that is damaged does not silence the others.
  @Test(arguments: [Float(1e30), 30_000]) func aFewSamplesBeyondOneAreCut(damage: Float) throws {
    var tone = Self.tone
    tone[4_000] = damage
    var bytes = file(32, align: 4, tone.flatMap { Self.bytes($0.bitPattern) })
    bytes[20] = 3
    let sound = try SoundFile(parsing: bytes)
    #expect(sound.excess == nil && sound.samples[4_000] == 1)
    #expect(zip(sound.samples, Self.tone).prefix(4_000).allSatisfy { abs($0 - $1) < 1e-6 })
  }

  /// Floating-point samples may have been written as those of 16 bits are.
  @Test func samplesFarBeyondOneAreScaled() throws {
    let data = Self.tone.flatMap { Self.bytes(($0 * 32_768).bitPattern) }
    var bytes = file(32, align: 4, data)
    bytes[20] = 3
    let sound = try SoundFile(parsing: bytes)
    let excess = try #require(sound.excess)
    let highest = Self.tone.reduce(0) { max($0, abs($1)) }
    #expect(abs(excess - highest * 32_768) < 1)
    #expect(zip(sound.samples, Self.tone).allSatisfy { abs($0 - $1 / highest) < 1e-4 })
  }

  /// A recorder that was killed leaves a header without the length of the sound.
  @Test(arguments: [UInt32(0), .max]) func aLengthThatWasNotFilledInIsFound(length: UInt32) throws {
    var bytes = WaveFile.header(rateHertz: 8_000, sampleCount: 0) + WaveFile.encode(Self.tone)
    bytes.replaceSubrange(40..<44, with: Self.bytes(length))
    #expect(try SoundFile(parsing: bytes).samples.count == 8_000)
  }

  /// Recorders of long sounds write lengths of 64 bits, once they are done.
  @Test(arguments: ["RF64", "BW64"], [0, 16_000, 16_001]) func longWavesAreRead(
    beginning: String,
    length: Int
  ) throws {
    let wave = WaveFile.header(rateHertz: 8_000, sampleCount: 8_000) + WaveFile.encode(Self.tone)
    var long = Array(beginning.utf8) + Self.bytes(.max) + Array("WAVEds64".utf8) + Self.bytes(28)
    long += [UInt8](repeating: 0, count: 8) + Self.bytes(UInt32(length))
    long += [UInt8](repeating: 0, count: 16) + wave[12..<40] + Self.bytes(.max) + wave[44...]
    #expect(try SoundFile(parsing: long).samples.count == 8_000)
    for cut in 12..<60 {
      #expect(throws: SoundFile.ReadError.self) { try SoundFile(parsing: Array(long[..<cut])) }
    }
  }

  /// ffmpeg writes titles before the sound.
  @Test func whatIsBesideTheSoundIsLeftOut() throws {
    let wave = WaveFile.header(rateHertz: 8_000, sampleCount: 0) + WaveFile.encode(Self.tone)
    let titles = Array("LIST".utf8) + Self.bytes(12) + Array("INFOISFT".utf8) + Self.bytes(0)
    let sound = try SoundFile(parsing: wave[..<36] + titles + wave[36...])
    #expect(sound.samples.count == 8_000)
    // A list that goes beyond the end of the file.
    #expect(throws: SoundFile.ReadError.self) {
      try SoundFile(parsing: wave[..<36] + Array("LIST".utf8) + Self.bytes(90_000_000))
    }
  }

  @Test func channelsThatCancelEachOtherAreToldAndOneIsTaken() throws {
    let stereo = Self.tone.flatMap { [$0, -$0] }
    let sound = try SoundFile(parsing: file(16, align: 4, channels: 2, WaveFile.encode(stereo)))
    #expect(sound.isAntiphase && zip(sound.samples, Self.tone).allSatisfy { abs($0 - $1) < 1e-3 })
    // A constant offset, and two that cancel each other among four.
    let offset: [Float] = Self.tone.flatMap { [$0 / 2 + 0.1, 0.1 - $0 / 2] }
    let level = try SoundFile(parsing: file(16, align: 4, channels: 2, WaveFile.encode(offset)))
    #expect(level.isAntiphase && level.samples.count == 8_000)
    let four: [Float] = Self.tone.flatMap { [0, 0, $0, -$0] }
    let third = try SoundFile(parsing: file(16, align: 8, channels: 4, WaveFile.encode(four)))
    #expect(third.isAntiphase && zip(third.samples, Self.tone).allSatisfy { abs($0 - $1) < 1e-3 })
    let single: [Float] = Self.tone.flatMap { [0, 0, 0, $0] }
    let quiet = try SoundFile(parsing: file(16, align: 8, channels: 4, WaveFile.encode(single)))
    #expect(!quiet.isAntiphase)
    // Silent channels make the others no quieter.
    #expect(zip(quiet.samples, Self.tone).allSatisfy { abs($0 - $1) < 1e-3 })
    let usual = Self.tone.flatMap { [$0, $0 / 2] }
    let mixed = try SoundFile(parsing: file(16, align: 4, channels: 2, WaveFile.encode(usual)))
    #expect(!mixed.isAntiphase && mixed.samples.count == 8_000)
  }

  /// Sample formats of recorders, as sox writes them.
  @Test(arguments: [
    ["-t", "wav", "-b", "8", "-e", "unsigned"], ["-t", "wav", "-e", "mu-law"],
    ["-t", "wav", "-e", "a-law"], ["-t", "wav", "-b", "24"], ["-t", "wav", "-b", "32"],
    ["-t", "wav", "-e", "float", "-b", "32"], ["-t", "wav", "-e", "float", "-b", "64"],
    ["-t", "w64"], ["-t", "caf"], ["-t", "aiff"], ["-t", "au"], ["-t", "flac"], ["-t", "ogg"],
  ])
  func soundsOfManyKindsAreRead(kind: [String]) throws {
    let folder = try TestFolder()
    let target = folder.path + "/target"
    let bytes = WaveFile.header(rateHertz: 8_000, sampleCount: 8_000) + WaveFile.encode(Self.tone)
    let source = try folder.write(bytes, as: "source.wav")
    let sox = Process()
    sox.executableURL = URL(fileURLWithPath: "/usr/bin/sox")
    sox.arguments = [source] + kind + [target]
    try sox.run()
    sox.waitUntilExit()
    #expect(sox.terminationStatus == 0)
    let data = try Data(contentsOf: URL(fileURLWithPath: target))
    let sound = try SoundFile(parsing: [UInt8](data))
    #expect(sound.rateHertz == 8_000 && sound.samples.count == 8_000)
    let error = zip(sound.samples, Self.tone).map { abs($0 - $1) }.max() ?? 1
    #expect(error < 0.05, "\(error)")
    guard kind.contains("ogg") else { return }
    // Joined recordings (RFC 3533 section 4).
    let joined = try SoundFile(parsing: [UInt8](data) + [UInt8](data))
    #expect(joined.rateHertz == 8_000 && joined.samples == sound.samples + sound.samples)
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
      guard let wave = try? SoundFile(parsing: bytes) else { continue }
      #expect((1_000...384_000).contains(wave.rateHertz) && wave.samples.count <= 64 * bytes.count)
    }
  }

  @Test func hugeRecordingHasALegalHeader() {
    #expect(WaveFile.header(rateHertz: 48_000, sampleCount: 1 << 40).count == 44)
  }
}
