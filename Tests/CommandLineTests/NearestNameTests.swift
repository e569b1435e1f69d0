import Testing

@testable import CommandLine

struct NearestNameTests {
  private static let commands = ["call", "check", "listen", "loopback", "devices"]

  @Test(arguments: [
    ("cal", "call"), ("clal", "call"), ("Call", "call"), ("lisen", "listen"), ("chekc", "check"),
    ("lopback", "loopback"), ("device", "devices"),
  ])
  func slipsAreRecognized(typed: String, meant: String) {
    #expect(NearestName.of(typed, among: Self.commands) == meant)
  }

  @Test(arguments: ["", "x", "sip:bob@host", "answer"]) func othersAreNot(typed: String) {
    #expect(NearestName.of(typed, among: Self.commands) == nil)
  }

  @Test func distanceCountsChanges() {
    #expect(NearestName.distance("", "abc") == 3)
    #expect(NearestName.distance("abc", "abc") == 0)
    #expect(NearestName.distance("abc", "acb") == 1)
    #expect(NearestName.distance("kitten", "sitting") == 3)
  }
}
