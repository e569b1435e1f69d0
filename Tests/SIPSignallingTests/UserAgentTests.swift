import Testing

@testable import SIPSignalling

/// Two user agents on this machine, over real sockets.
@Suite(.serialized)
struct UserAgentTests {
  private func agent(_ user: String) async throws -> (UserAgent, String) {
    let agent = UserAgent(.init(hosts: ["127.0.0.1"], port: 0, user: user))
    let addresses = try await agent.start()
    return (agent, try #require(addresses.first))
  }

  private static let offer = MediaOffer(host: "127.0.0.1", port: 4_000, packetMilliseconds: 10)

  @Test func callIsNegotiatedRenegotiatedAndEnded() async throws {
    let (alice, _) = try await agent("alice")
    let (bob, address) = try await agent("bob")
    var aliceEvents = alice.events.makeAsyncIterator()
    var bobEvents = bob.events.makeAsyncIterator()

    let outgoing = try await alice.invite("sip:bob@\(address)", offer: Self.offer)
    guard case .incoming(let incoming, let caller) = await bobEvents.next() else {
      Issue.record("no call came")
      return
    }
    #expect(caller.source == "127.0.0.1" && caller.media?.codec == .opus)
    #expect(await aliceEvents.next() == .ringing(outgoing))
    let answer = MediaOffer(
      host: "127.0.0.1",
      port: 5_000,
      packetMilliseconds: 20,
      codecs: [.pcma]
    )
    #expect(await bob.answer(incoming, offer: answer))
    guard case .media(_, let media) = await aliceEvents.next() else {
      Issue.record("no agreement")
      return
    }
    #expect(media.codec == .pcma && media.port == 5_000 && media.sendPayloadType == 8)
    #expect(media.controlPort == 5_000)
    #expect(await aliceEvents.next() == .established(outgoing, from: "127.0.0.1"))
    guard case .media(_, let theirs) = await bobEvents.next() else {
      Issue.record("no agreement at the far side")
      return
    }
    #expect(theirs.codec == .pcma && theirs.port == 4_000 && theirs.packetMilliseconds == 10)
    #expect(await bobEvents.next() == .established(incoming, from: "127.0.0.1"))

    // A resume of what is not held sends the same offer again.
    await alice.setHeld(outgoing, false)
    guard case .media(_, let again) = await bobEvents.next() else {
      Issue.record("no re-INVITE")
      return
    }
    #expect(again == theirs)

    await alice.hangUp(outgoing)
    #expect(await bobEvents.next() == .ended(incoming, .remoteHangUp))
    await alice.stop()
    await bob.stop()
  }

  @Test(arguments: [true, false])
  func copiesAreAgreedIfBothSidesTakeThem(answererTakesThem: Bool) async throws {
    let (alice, _) = try await agent("alice")
    let (bob, address) = try await agent("bob")
    var aliceEvents = alice.events.makeAsyncIterator()
    var bobEvents = bob.events.makeAsyncIterator()
    let outgoing = try await alice.invite("sip:bob@\(address)", offer: Self.offer)
    guard case .incoming(let incoming, _) = await bobEvents.next() else {
      Issue.record("no call came")
      return
    }
    #expect(await aliceEvents.next() == .ringing(outgoing))
    var answer = Self.offer
    answer.offersCopies = answererTakesThem
    #expect(await bob.answer(incoming, offer: answer))
    guard case .media(_, let ours) = await aliceEvents.next(),
      case .media(_, let theirs) = await bobEvents.next()
    else {
      Issue.record("no agreement")
      return
    }
    let payloadType: UInt8? = answererTakesThem ? 97 : nil
    for media in [ours, theirs] {
      #expect(media.codec == .opus && media.sendPayloadType == 96)
      #expect(media.sendRedundancyPayloadType == payloadType)
      #expect(media.receiveRedundancyPayloadType == payloadType)
      #expect(media.shortestPacketMilliseconds == 3)
    }
    await alice.hangUp(outgoing)
    await alice.stop()
    await bob.stop()
  }

  @Test func farSideIsUnheardOfUntilItAnswers() async throws {
    let (alice, _) = try await agent("alice")
    let (bob, address) = try await agent("bob")
    var aliceEvents = alice.events.makeAsyncIterator()
    // The port of discard, at which no phone is.
    let silent = try await alice.invite("sip:nobody@127.0.0.1:9", offer: Self.offer)
    let answered = try await alice.invite("sip:bob@\(address)", offer: Self.offer)
    #expect(await aliceEvents.next() == .ringing(answered))
    #expect(await alice.isUnheardOf(silent))
    #expect(await !alice.isUnheardOf(answered))
    // Of a call that is over there is nothing more to say.
    await alice.hangUp(silent)
    #expect(await !alice.isUnheardOf(silent))
    await alice.stop()
    await bob.stop()
  }

  @Test func withoutACommonCodecTheCallIsRefused() async throws {
    let (alice, _) = try await agent("alice")
    let (bob, address) = try await agent("bob")
    var aliceEvents = alice.events.makeAsyncIterator()
    var bobEvents = bob.events.makeAsyncIterator()
    var offer = Self.offer
    offer.codecs = [.opus]
    let outgoing = try await alice.invite("sip:bob@\(address)", offer: offer)
    guard case .incoming(let incoming, _) = await bobEvents.next() else {
      Issue.record("no call came")
      return
    }
    var answer = Self.offer
    answer.codecs = [.pcmu]
    #expect(await !bob.answer(incoming, offer: answer))
    #expect(await aliceEvents.next() == .ringing(outgoing))
    guard case .ended(_, .refused(488, _)) = await aliceEvents.next() else {
      Issue.record("not refused")
      return
    }
    await alice.stop()
    await bob.stop()
  }

  @Test func callsLeaveFromTheAddressThatTheyAreMadeAt() async throws {
    let bob = UserAgent(.init(hosts: ["127.0.0.1", "127.0.0.2"], port: 0, user: "bob"))
    let addresses = try await bob.start()
    #expect(addresses.count == 2 && addresses[1].hasPrefix("127.0.0.2:"))
    let (alice, address) = try await agent("alice")
    var aliceEvents = alice.events.makeAsyncIterator()
    var bobEvents = bob.events.makeAsyncIterator()
    var offer = Self.offer
    offer.host = "127.0.0.2"
    let outgoing = try await bob.invite("sip:alice@\(address)", offer: offer)
    guard case .incoming(let incoming, let caller) = await aliceEvents.next() else {
      Issue.record("no call came")
      return
    }
    #expect(caller.source == "127.0.0.2" && caller.address.contains("127.0.0.2"))
    #expect(await bobEvents.next() == .ringing(outgoing))
    await alice.hangUp(incoming, as: .unavailable)
    guard case .ended(outgoing, .refused(480, _)) = await bobEvents.next() else {
      Issue.record("not refused as unavailable")
      return
    }
    await alice.stop()
    await bob.stop()
  }

  @Test func declinedAndCancelledCallsEnd() async throws {
    let (alice, _) = try await agent("alice")
    let (bob, address) = try await agent("bob")
    var aliceEvents = alice.events.makeAsyncIterator()
    var bobEvents = bob.events.makeAsyncIterator()

    let first = try await alice.invite("sip:bob@\(address)", offer: Self.offer)
    guard case .incoming(let incoming, _) = await bobEvents.next() else { return }
    #expect(await aliceEvents.next() == .ringing(first))
    await bob.hangUp(incoming)
    guard case .ended(first, .refused(603, _)) = await aliceEvents.next() else {
      Issue.record("not declined")
      return
    }

    let second = try await alice.invite("sip:bob@\(address)", offer: Self.offer)
    guard case .incoming(let cancelled, _) = await bobEvents.next() else { return }
    #expect(await aliceEvents.next() == .ringing(second))
    await alice.hangUp(second)
    #expect(await bobEvents.next() == .ended(cancelled, .remoteHangUp))
    await alice.stop()
    await bob.stop()
  }
}
