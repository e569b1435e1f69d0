import ProgramRig
import Testing

@testable import SIPSignalling

/// The torture tests of RFC 4475 and RFC 5118, against the module without a program around it.
@Suite(.serialized)
struct TortureMessageTests {
  @Test(arguments: ["rfc4475", "rfc5118"], [SIPTransport.udp, .tcp])
  func messagesAreAnsweredAsTheStandardSays(
    standard: String,
    transport: SIPTransport
  ) async throws {
    let messages = TortureMessage.all(of: standard)
    #expect(messages.count == (standard == "rfc4475" ? 49 : 12))
    let alice = UserAgent(.init(hosts: ["127.0.0.1"], port: 0, user: "alice"))
    _ = try await alice.start()
    var events = alice.events.makeAsyncIterator()
    for (number, message) in messages.enumerated() {
      // Several messages are of the same transaction.
      let bob = UserAgent(.init(hosts: ["127.0.0.1"], port: 0, user: "bob"))
      let address = try #require(await bob.start().first)
      let host = "127.0.3.\(number + 1)"
      let port = await bob.port(of: transport)
      let code =
        try transport == .udp
        ? message.answerByUDP(from: host, to: port) : message.answerByTCP(from: host, to: port)
      let isRight = message.allows(code, byConnection: transport != .udp)
      #expect(isRight, "\(message): \(code.map(String.init) ?? "none")")
      // It takes a call that is in order.
      let offer = MediaOffer(host: "127.0.0.1", port: 4_000, packetMilliseconds: 10)
      let call = try await alice.invite("sip:bob@\(address)", offer: offer)
      #expect(await events.next() == .ringing(call), "after \(message)")
      await alice.hangUp(call)
      await bob.stop()
    }
    await alice.stop()
  }
}
