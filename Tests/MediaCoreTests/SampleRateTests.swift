import MediaCore
import Testing

struct SampleRateTests {
  private static let year = 365 * 24 * 3_600

  @Test(arguments: [8_000, 16_000, 44_100, 48_000, 96_000])
  func framesOfAYearLastAYear(hertz: Int) {
    let rate = SampleRate(hertz: hertz)
    #expect(rate.nanoseconds(of: hertz * Self.year) == Int64(Self.year) * 1_000_000_000)
    #expect(rate.frames(inNanoseconds: Int64(Self.year) * 1_000_000_000) == hertz * Self.year)
  }

  @Test func nanosecondsAreRoundedTowardsZero() {
    // A frame at 48 kHz lasts 20,833 1/3 ns.
    #expect(SampleRate.voice.nanoseconds(of: 1) == 20_833)
    #expect(SampleRate.voice.nanoseconds(of: 2) == 41_666)
    #expect(SampleRate.voice.nanoseconds(of: 3) == 62_500)
    #expect(SampleRate.voice.nanoseconds(of: -2) == -41_666)
  }

  @Test func nanosecondsAgreeWithTheUndividedProduct() {
    // Up to 53 hours at 48 kHz the plain product does not overflow.
    for frames in stride(from: 0, to: 48_000 * 190_000, by: 479_001_599) {
      #expect(SampleRate.voice.nanoseconds(of: frames) == Int64(frames) * 1_000_000_000 / 48_000)
    }
  }

  @Test func wholeFramesFit() {
    #expect(SampleRate.voice.frames(inNanoseconds: 20_833) == 0)
    #expect(SampleRate.voice.frames(inNanoseconds: 20_834) == 1)
    #expect(SampleRate.voice.frames(inNanoseconds: 2_500_000) == 120)
  }
}
