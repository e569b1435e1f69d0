import MediaCore
import Testing

@testable import SIPRules

/// An account's registration, in virtual time.
struct RegistrationTests {
  private var registration = Registration(expires: 600, seed: 1)
  private var now = MonotonicInstant(nanoseconds: 0)
  private let first = Self.server(1)
  private let second = Self.server(2)

  private static func server(_ number: Int) -> SIPServer {
    SIPServer(
      name: "s\(number).example.org",
      address: "192.0.2.\(number)",
      port: 5_061,
      transport: .tls
    )
  }

  private mutating func handle(_ event: Registration.Event) -> [Registration.Effect] {
    registration.handle(event, at: now)
  }

  private mutating func wait(seconds: Int) -> [Registration.Effect] {
    now = now.advanced(by: .seconds(seconds))
    return handle(.timePassed)
  }

  private mutating func locate(_ servers: [SIPServer]) -> [Registration.Effect] {
    _ = handle(.started)
    return handle(.located(servers))
  }

  private func pause(in effects: [Registration.Effect]) -> Int? {
    for case .report(.failed(_, let pause)) in effects { return pause }
    return nil
  }

  /// RFC 5626 section 4.2.1.
  @Test mutating func aProxyWithoutOutboundIsAskedAgainWithoutIt() {
    _ = locate([first, second])
    #expect(registration.usesOutbound)
    let refusal = Registration.Event.refused(
      code: 439,
      phrase: "First Hop Lacks Outbound Support",
      advice: .init()
    )
    #expect(handle(refusal) == [.register(first, seconds: 600)])
    #expect(!registration.usesOutbound)
    // It was not that.
    #expect(pause(in: handle(refusal)) != nil)
    // Another network may have another proxy.
    #expect(handle(.networkChanged) == [.locate])
    #expect(registration.usesOutbound)
  }

  @Test mutating func aLostConnectionIsMadeAnewUnlessThatIsNoUse() {
    _ = locate([first])
    _ = handle(.accepted(seconds: 600))
    for _ in 0..<2 {
      #expect(handle(.connectionLost) == [.locate])
      #expect(handle(.located([first])) == [.register(first, seconds: 600)])
      // Nothing is lost that is not there yet.
      #expect(handle(.connectionLost) == [])
      _ = handle(.accepted(seconds: 600))
    }
    let effects = handle(.connectionLost)
    #expect(pause(in: effects).map { (15...30).contains($0) } == true)
    _ = wait(seconds: 30)
    _ = handle(.located([first]))
    _ = handle(.accepted(seconds: 600))
    // A connection that has lasted is none to worry about.
    _ = wait(seconds: 60)
    #expect(handle(.connectionLost) == [.locate])
  }

  @Test mutating func isRenewedBeforeItsEnd() {
    #expect(handle(.started) == [.locate])
    #expect(handle(.located([first])) == [.register(first, seconds: 600)])
    #expect(
      handle(.accepted(seconds: 600))
        == [.report(.registered(server: "\(first)", seconds: 600))]
    )
    #expect(wait(seconds: 539) == [])
    #expect(wait(seconds: 1) == [.register(first, seconds: 600)])
    // No news.
    #expect(handle(.accepted(seconds: 600)) == [])
  }

  /// The first of three servers is silent, the second has a fault.
  @Test mutating func theNextServerIsTriedInTime() {
    let third = Self.server(3)
    #expect(locate([first, second, third]) == [.register(first, seconds: 600)])
    #expect(wait(seconds: 3) == [])
    #expect(wait(seconds: 1) == [.register(second, seconds: 600)])
    #expect(
      handle(.refused(code: 503, phrase: "Service Unavailable", advice: .init()))
        == [.register(third, seconds: 600)]
    )
    // The last one has all the time that RFC 3261 gives it.
    #expect(registration.deadline == nil)
    #expect(
      handle(.accepted(seconds: 60)) == [.report(.registered(server: "\(third)", seconds: 60))]
    )
  }

  @Test mutating func pausesGrowAndAreDrawn() {
    _ = locate([first])
    var longest = 30
    for _ in 0..<12 {
      let pause = pause(in: handle(.unanswered(reason: "it does not answer")))
      let expected = min(1_800, longest)
      #expect(pause.map { (expected / 2...expected).contains($0) } == true)
      longest *= 2
      #expect(wait(seconds: pause ?? 0) == [.locate])
      #expect(handle(.located([first])) == [.register(first, seconds: 600)])
    }
    _ = handle(.accepted(seconds: 600))
    _ = wait(seconds: 560)
    // A success begins anew.
    let pause = pause(in: handle(.unanswered(reason: "it does not answer")))
    #expect((15...30).contains(pause ?? 0))
  }

  @Test(arguments: [
    (401, "the server refuses the name or the password"),
    (403, "the server does not allow it: 403 No"),
    (404, "the server does not know this address: 404 No"),
    (606, "the server refuses: 606 No"),
  ])
  mutating func whatIsRefusedForGoodGoesToNoOtherServer(code: Int, reason: String) {
    _ = locate([first, second])
    let effects = handle(.refused(code: code, phrase: "No", advice: .init()))
    guard case .report(.failed(let given, _))? = effects.first, effects.count == 1 else {
      Issue.record("\(effects)")
      return
    }
    #expect(given == reason)
  }

  /// No password was tried, so none is wrong.
  @Test mutating func digestThatIsNotKnownIsTheReason() {
    _ = locate([first])
    let effects = handle(
      .refused(code: 401, phrase: "Unauthorized", advice: .init(isDigestUnknown: true))
    )
    guard
      case .report(.failed("the server asks for a digest that is not known here", _))? =
        effects.first
    else {
      Issue.record("\(effects)")
      return
    }
  }

  @Test mutating func shortTimeIsRaisedOnce() {
    _ = locate([first])
    let tooBrief = Registration.Event.refused(
      code: 423,
      phrase: "Interval Too Brief",
      advice: .init(minimumExpires: 3_000)
    )
    #expect(handle(tooBrief) == [.register(first, seconds: 3_000)])
    #expect(pause(in: handle(tooBrief)) != nil)
  }

  @Test mutating func serverMayAskForALongerPause() {
    _ = locate([first])
    let busy = Registration.Event.refused(
      code: 503,
      phrase: "Busy",
      advice: .init(retryAfter: 900)
    )
    #expect(pause(in: handle(busy)) == 900)
  }

  @Test mutating func anotherNetworkRegistersAnewAtOnce() {
    _ = locate([first])
    _ = handle(.accepted(seconds: 600))
    #expect(handle(.networkChanged) == [.locate])
    #expect(handle(.located([first])) == [.register(first, seconds: 600)])
    #expect(handle(.accepted(seconds: 600)) == [])
    _ = handle(.unanswered(reason: "late"))
    #expect(handle(.networkChanged) == [.locate])
  }

  @Test mutating func stopUnregistersWhatIsRegistered() {
    _ = locate([first])
    _ = handle(.accepted(seconds: 600))
    #expect(handle(.stopped) == [.unregister(first), .report(.ended)])
    #expect(handle(.timePassed) == [] && handle(.networkChanged) == [])
  }

  @Test mutating func stopBeforeARegistrationSaysNothingToTheServer() {
    _ = locate([first])
    #expect(handle(.stopped) == [.report(.ended)])
  }

  @Test mutating func unknownNameIsTriedAgain() {
    let effects = locate([])
    #expect(pause(in: effects) != nil)
    #expect(wait(seconds: 30) == [.locate])
  }

  /// Any order of events leaves it in a state from which a server that answers is registered with.
  @Test mutating func noOrderOfEventsEndsIt() {
    var generator = SeededGenerator(seed: 3)
    let events: [Registration.Event] = [
      .started, .networkChanged, .located([first, second]), .located([]),
      .accepted(seconds: 1), .accepted(seconds: 60), .unanswered(reason: "-"), .timePassed,
      .refused(code: 503, phrase: "", advice: .init(retryAfter: 5)),
      .refused(code: 401, phrase: "", advice: .init()),
      .refused(code: 423, phrase: "", advice: .init()),
    ]
    for _ in 0..<200 {
      var registration = Registration(expires: 600, seed: generator.next())
      var now = MonotonicInstant(nanoseconds: 0)
      _ = registration.handle(.started, at: now)
      for _ in 0..<40 {
        let event = events[Int(generator.next() % UInt64(events.count))]
        _ = registration.handle(event, at: now)
        now = now.advanced(by: .seconds(Int(generator.next() % 100)))
      }
      _ = registration.handle(.networkChanged, at: now)
      _ = registration.handle(.located([first]), at: now)
      _ = registration.handle(.accepted(seconds: 600), at: now)
      #expect(registration.server == first && registration.deadline != nil)
    }
  }
}
