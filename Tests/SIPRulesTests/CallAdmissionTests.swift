import MediaCore
import Testing

@testable import SIPRules

/// Admission of incoming calls, in virtual time.
struct CallAdmissionTests {
  private var now = MonotonicInstant(nanoseconds: 0)
  private var admission = CallAdmission(.phone, at: MonotonicInstant(nanoseconds: 0))
  private let quiet = CallAdmission.Ringing(all: 0, fromHost: 0)

  private mutating func refusal(
    _ host: String,
    isByServer: Bool = false,
    _ ringing: CallAdmission.Ringing? = nil
  ) -> CallAdmission.Refusal? {
    admission.refusal(
      ofCallFrom: host,
      isByServer: isByServer,
      whileRinging: ringing ?? quiet,
      at: now
    )
  }

  private mutating func wait(milliseconds: Int64) {
    now = now.advanced(byNanoseconds: milliseconds * 1_000_000)
  }

  @Test mutating func oneHostCallsTenTimesAndThenEverySecond() {
    let first = (0..<10).map { _ in refusal("192.0.2.1") }
    #expect(first.allSatisfy { $0 == nil })
    #expect(refusal("192.0.2.1") == .overloaded(retryAfter: 1))
    #expect(refusal("192.0.2.2") == nil)
    wait(milliseconds: 1_000)
    #expect(refusal("192.0.2.1") == nil)
    #expect(refusal("192.0.2.1") == .overloaded(retryAfter: 1))
  }

  /// 5,000 calls a second from invented addresses for a minute.
  @Test mutating func knownCallersGetThroughAFloodOfStrangers() {
    admission.noteCall(with: "192.0.2.7", at: now)
    var admitted = 0
    var known = 0
    for call in 0..<300_000 {
      wait(milliseconds: call % 5 == 0 ? 1 : 0)
      if refusal("198.51.\(call / 251 % 251).\(call % 251)") == nil { admitted += 1 }
      if call % 50_000 == 25_000, refusal("192.0.2.7") == nil { known += 1 }
    }
    #expect((300...330).contains(admitted), "20 at once, then 5 a second for 60 s")
    #expect(known == 6)
    #expect(admission.isKnown("192.0.2.7", isByServer: false))
    #expect(!admission.isKnown("198.51.1.1", isByServer: false))
    #expect(admission.isKnown("198.51.1.1", isByServer: true))
  }

  @Test mutating func enoughCallsRing() {
    #expect(refusal("192.0.2.1", .init(all: 3, fromHost: 3)) == .busy)
    #expect(refusal("192.0.2.1", .init(all: 8, fromHost: 0)) == .busy)
    admission.noteCall(with: "192.0.2.1", at: now)
    #expect(refusal("192.0.2.1", .init(all: 8, fromHost: 0)) == nil)
    #expect(refusal("192.0.2.1", .init(all: 16, fromHost: 0)) == .busy)
  }

  /// Calls by a server all come from its host, and are admitted whatever strangers do.
  @Test mutating func callsByAServerHaveAShareOfTheirOwn() {
    for host in 0..<40 { _ = refusal("198.51.100.\(host)", .init(all: 0, fromHost: 0)) }
    for _ in 0..<20 {
      #expect(refusal("192.0.2.1", isByServer: true, .init(all: 8, fromHost: 8)) == nil)
    }
    #expect(
      refusal("192.0.2.1", isByServer: true, .init(all: 8, fromHost: 8))
        == .overloaded(retryAfter: 1)
    )
    #expect(refusal("192.0.2.1", isByServer: true, .init(all: 16, fromHost: 16)) == .busy)
  }

  @Test mutating func strangersPushOutNoHostThatHasCalled() {
    for host in 0..<256 {
      admission.noteCall(with: "192.0.2.\(host)", at: now.advanced(by: .seconds(host)))
    }
    for host in 0..<2_000 {
      wait(milliseconds: 1_000)
      #expect(refusal("198.51.\(host / 250).\(host % 250)") == nil)
    }
    // Each of them has a share of its own, though strangers have used up theirs.
    var stranger = 0
    while refusal("203.0.113.\(stranger)") == nil { stranger += 1 }
    for host in 0..<256 { #expect(refusal("192.0.2.\(host)") == nil) }
    // There is room for so many: the one called first makes place.
    admission.noteCall(with: "203.0.114.1", at: now)
    #expect(refusal("192.0.2.0") != nil)
    #expect(refusal("203.0.114.1") == nil)
  }

  @Test mutating func answersToStrangersAreLimited() {
    var answered = 0
    for _ in 0..<50_000 where admission.answers(isByServer: false, at: now) { answered += 1 }
    #expect(answered == 200)
    wait(milliseconds: 100)
    for _ in 0..<50_000 where admission.answers(isByServer: false, at: now) { answered += 1 }
    #expect(answered == 210)
    let isServerAnswered = admission.answers(isByServer: true, at: now)
    #expect(isServerAnswered)
  }

  @Test mutating func lineThatAnswersByItselfAnswersAThousandQuestionsAtOnceAndThen500ASecond() {
    admission = CallAdmission(.service, at: now)
    var answered = 0
    for _ in 0..<50_000 where admission.answers(isByServer: false, at: now) { answered += 1 }
    #expect(answered == 1_000)
    wait(milliseconds: 100)
    for _ in 0..<50_000 where admission.answers(isByServer: false, at: now) { answered += 1 }
    #expect(answered == 1_050)
  }

  /// A server's calls have the room of known callers, and a share that strangers cannot use up.
  @Test mutating func serverOfAnAccountIsKnown() {
    var stranger = 0
    while refusal("203.0.113.\(stranger)") == nil { stranger += 1 }
    let crowded = CallAdmission.Ringing(all: 15, fromHost: 9)
    #expect(refusal("203.0.113.200", crowded) != nil)
    #expect(refusal("192.0.2.1", isByServer: true, crowded) == nil)
  }

  /// One host does not use up the share of all strangers.
  @Test mutating func hostWithoutAShareTakesNothingFromOthers() {
    for _ in 0..<1_000 { _ = refusal("192.0.2.1") }
    for host in 2..<12 { #expect(refusal("192.0.2.\(host)") == nil) }
  }

  @Test mutating func customerWithASixtyFourIsOneHost() {
    let admitted = (0..<20).count { refusal("2001:db8:1:2::\($0 + 1)") == nil }
    #expect(admitted == 10)
    #expect(refusal("2001:db8:1:3::1") == nil)
  }

  @Test func callsThatRingAreCountedByTheNetworkOfTheirHost() {
    let hosts = ["2001:db8:1:2::1", "2001:db8:1:2::2", "2001:db8:1:3::1", "192.0.2.1", "192.0.2.1"]
    let ofOneCustomer = CallAdmission.Ringing(hosts, from: "2001:db8:1:2::3")
    #expect(ofOneCustomer == .init(all: 5, fromHost: 2))
    #expect(CallAdmission.Ringing(hosts, from: "192.0.2.1") == .init(all: 5, fromHost: 2))
    #expect(CallAdmission.Ringing(hosts, from: "192.0.2.2") == .init(all: 5, fromHost: 0))
  }

  @Test mutating func lineThatAnswersByItselfTakesAThousandAtOnceAndThen500ASecond() {
    admission = CallAdmission(.service, at: now)
    let first = (0..<1_000).map { _ in refusal("192.0.2.1") }
    #expect(first.allSatisfy { $0 == nil })
    #expect(refusal("192.0.2.1") == .overloaded(retryAfter: 1))
    #expect(refusal("192.0.2.2") == .overloaded(retryAfter: 1), "strangers have no more either")
    wait(milliseconds: 100)
    let later = (0..<200).count { _ in refusal("192.0.2.1") == nil }
    #expect(later == 50)
    wait(milliseconds: 100)
    #expect(refusal("192.0.2.2", .init(all: 999, fromHost: 999)) == nil)
    #expect(refusal("192.0.2.2", .init(all: 1_000, fromHost: 0)) == .busy)
  }

  @Test mutating func timeThatGoesBackGivesNothing() {
    for _ in 0..<10 { _ = refusal("192.0.2.1") }
    now = MonotonicInstant(nanoseconds: -1_000_000_000_000)
    #expect(refusal("192.0.2.1") != nil)
  }
}
