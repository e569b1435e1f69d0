import MediaCore
import RealTime
import Testing

@testable import ALSAAudio

struct SampleFormatTests {
  private static func stored(_ sample: Float, as format: SampleFormat) -> [UInt8] {
    var bytes = FixedBytes(repeating: 0xAA, count: 12)
    format.store(sample, to: &bytes, at: 4)
    return (0..<12).map { bytes[$0] }
  }

  private static func back(_ sample: Float, by format: SampleFormat) -> Float {
    format.load(FixedBytes(stored(sample, as: format)), at: 4)
  }

  @Test(arguments: SampleFormat.allCases)
  func samplesComeBackWithinTheResolutionOfTheFormat(format: SampleFormat) {
    let resolution: Float = format == .int16 ? 1.0 / 16_384 : 1.0 / 4_194_304
    for step in -100...100 {
      let sample = Float(step) / 100
      #expect(abs(Self.back(sample, by: format) - sample) <= resolution, "\(format), \(sample)")
    }
    #expect(Self.back(0, by: format) == 0, "silence stays silence")
  }

  @Test(arguments: SampleFormat.allCases)
  func whatIsTooLoudIsLimitedAndNotWrapped(format: SampleFormat) {
    for (sample, limited) in [(1.5, 1), (-7, -1), (1e30, 1), (.infinity, 0), (.nan, 0)]
      as [(Float, Float)]
    {
      #expect(abs(Self.back(sample, by: format) - limited) < 0.001, "\(format), \(sample)")
    }
  }

  @Test(arguments: SampleFormat.allCases)
  func sampleTakesItsBytesAndNoOthers(format: SampleFormat) {
    let bytes = Self.stored(-1, as: format)
    #expect(bytes[..<4].allSatisfy { $0 == 0xAA })
    #expect(bytes[(4 + format.bytesPerSample)...].allSatisfy { $0 == 0xAA })
    #expect(bytes[4..<4 + format.bytesPerSample].contains { $0 != 0xAA })
  }

  @Test func layoutsAreLittleEndian() {
    #expect(Array(Self.stored(1, as: .int16)[4..<6]) == [0xFF, 0x7F])
    #expect(Array(Self.stored(-1, as: .int16)[4..<6]) == [0x01, 0x80])
    #expect(Array(Self.stored(1, as: .int24Packed)[4..<7]) == [0xFF, 0xFF, 0x7F])
    #expect(Array(Self.stored(-1, as: .int24)[4..<8]) == [0x01, 0x00, 0x80, 0xFF])
    #expect(Array(Self.stored(0.5, as: .float32)[4..<8]) == [0x00, 0x00, 0x00, 0x3F])
    // The least of each, which no store writes.
    let bytes = FixedBytes([0x00, 0x80, 0x00, 0x00, 0x00, 0x80])
    #expect(SampleFormat.int16.load(bytes, at: 0) == -1)
    #expect(SampleFormat.int32.load(bytes, at: 2) == -1)
  }

  @Test func floatsThatAreNoneBecomeSilence() {
    var block = SampleBuffer(repeating: 1, count: 3)
    let source: [Float] = [.nan, 0.25, -.infinity]
    let bytes = source.flatMap { sample in
      (0..<4).map { UInt8(truncatingIfNeeded: sample.bitPattern >> (8 * UInt32($0))) }
    }
    SampleFormat.float32.load(FixedBytes(bytes), count: 3, into: &block)
    #expect((0..<3).map { block[$0] } == [0, 0.25, 0])
    var written = FixedBytes(repeating: 0, count: 12)
    SampleFormat.float32.store(SampleBuffer([.nan, 2, -0.5]), count: 3, to: &written)
    #expect((0..<3).map { SampleFormat.float32.load(written, at: 4 * $0) } == [0, 1, -0.5])
  }
}
