import Testing

@testable import SIPSignalling

struct MessageWatchTests {
  @Test(arguments: [UInt16(408), 480, 481, 500, 503, 504])
  func aServerThatHasForgottenIsAskedAgain(status: UInt16) {
    #expect(!MessageWatch.isRefusal(status))
  }

  @Test(arguments: [UInt16(403), 404, 405, 489, 501, 603])
  func aServerWithoutMessagesIsNot(status: UInt16) {
    #expect(MessageWatch.isRefusal(status))
  }
}
