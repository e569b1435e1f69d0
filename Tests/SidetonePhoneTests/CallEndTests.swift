import CallKit
import SIPSignalling
import Testing

@testable import SidetonePhone

struct CallEndTests {
  @Test(arguments: [
    (486, "busy", "busy"), (600, "busy", "busy"), (603, "declined", "declined"),
    (480, "notAvailable", "not available"), (404, "notFound", "no such user"),
    (604, "notFound", "no such user"), (410, "notFound", "no such user"),
    (487, "refused", "cancelled"), (503, "refused", "refused: 503 Service Unavailable"),
  ])
  func aResponseHasItsCauseCodeAndWords(code: Int, cause: String, words: String) {
    let end = CallEnd(code: code, phrase: "Service Unavailable")
    #expect(end.cause == cause && end.description == words)
    #expect(end.code == code && !end.isClean)
  }

  @Test func timeoutsAndMissingCodecsAreTheSameBySignalAndByResponse() {
    #expect(CallEnd(code: 408, phrase: "") == CallEnd(.timeout, wasConnected: false))
    #expect(CallEnd(code: 488, phrase: "") == CallEnd(.noCommonCodec, wasConnected: false))
  }

  @Test func onlyCallsThatWereConnectedEndCleanly() {
    #expect(CallEnd(.remoteHangUp, wasConnected: true) == .hungUpByFarSide)
    #expect(CallEnd(.remoteHangUp, wasConnected: true).isClean)
    #expect(CallEnd(.remoteHangUp, wasConnected: false) == .cancelledByFarSide)
    #expect(!CallEnd(.remoteHangUp, wasConnected: false).isClean)
  }

  @Test func eachCauseHasAnotherNameAndItsOwnWords() {
    let ends: [CallEnd] = [
      .hungUp, .hungUpByFarSide, .transferred, .cancelled, .cancelledByFarSide, .busy(code: 486),
      .declined, .notAvailable, .notFound(code: 404), .answeredElsewhere, .declinedElsewhere,
      .moved(to: nil), .refused(code: 500, phrase: "x"), .noAnswer, .noCommonCodec,
      .unreachable("u"), .lost("l"), .securityRefused("s"), .failed("f"),
    ]
    #expect(Set(ends.map(\.cause)).count == ends.count)
    // A person sees who hung up, and needs no word for before and after the connection.
    #expect(Set(ends.map(\.description)).count == ends.count - 2)
  }

  @Test func anErrorThatIsAnEndStaysOne() {
    #expect(CallEnd(CallEnd.securityRefused("no TLS")) == .securityRefused("no TLS"))
    #expect(CallEnd(PhoneError.noMedia("no port")) == .failed("no port"))
  }

  @Test func otherPhonesOfTheUserAreNoMissedCall() {
    #expect(CallEnd.answeredElsewhere.reasonBeforeConnection == .answeredElsewhere)
    #expect(CallEnd.declinedElsewhere.reasonBeforeConnection == .declinedElsewhere)
    #expect(CallEnd.cancelledByFarSide.reasonBeforeConnection == .unanswered)
  }
}
