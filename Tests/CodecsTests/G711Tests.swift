import Testing

@testable import Codecs

struct G711Tests {
  @Test(arguments: [G711.Law.mu, .a])
  func everyCodeRoundTrips(law: G711.Law) {
    for code in UInt8.min...UInt8.max {
      let sample = G711.decode(code, law: law)
      let again = G711.decode(G711.encode(sample, law: law), law: law)
      #expect(abs(again - sample) < 1e-6)
    }
  }

  @Test(arguments: [G711.Law.mu, .a])
  func errorStaysBelowHalfAStepOfItsSegment(law: G711.Law) {
    for step in -1_000...1_000 {
      let sample = Float(step) / 1_001
      let error = abs(G711.decode(G711.encode(sample, law: law), law: law) - sample)
      #expect(error <= max(0.0011, abs(sample) * 0.033))
    }
  }

  @Test func knownCodesOfTheRecommendation() {
    #expect(G711.encode(0, law: .mu) == 0xFF)
    #expect(G711.encode(0, law: .a) == 0xD5)
    #expect(G711.encode(1, law: .mu) == 0x80)
    #expect(G711.encode(1, law: .a) == 0xAA)
    #expect(G711.encode(-1, law: .mu) == 0x00)
    #expect(G711.encode(-1, law: .a) == 0x2A)
  }

  @Test func nonsenseIsClippedOrSilent() {
    #expect(G711.encode(.infinity, law: .mu) == G711.encode(0, law: .mu))
    #expect(G711.encode(5, law: .a) == G711.encode(1, law: .a))
  }
}
