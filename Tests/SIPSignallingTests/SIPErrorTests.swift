import Testing

@testable import SIPSignalling

struct SIPErrorTests {
  @Test func errorsOfTheSystemAreInWords() {
    #expect(SIPError.text(98).contains("in use"))
    #expect(!SIPError.text(99_999).isEmpty)
  }
}
