import CallSecurity
import Testing

@testable import SIPSignalling

/// Agreement of two user agents on encryption (RFC 5763, RFC 8643), over real sockets.
@Suite(.serialized)
struct EncryptionTests {
  private let alice: Fingerprint
  private let bob: Fingerprint

  init() throws {
    alice = try #require(Fingerprint(bytes: [UInt8](repeating: 1, count: 32)))
    bob = try #require(Fingerprint(bytes: [UInt8](repeating: 2, count: 32)))
  }

  private func offer(
    _ fingerprint: Fingerprint?,
    port: UInt16,
    isRequired: Bool = false
  ) -> MediaOffer {
    MediaOffer(
      host: "127.0.0.1",
      port: port,
      packetMilliseconds: 10,
      encryption: fingerprint.map { EncryptionOffer(fingerprint: $0, isRequired: isRequired) }
    )
  }

  /// Negotiated media of a call, or the reason for its end.
  private struct Outcome {
    var previewed: NegotiatedMedia?
    var caller: NegotiatedMedia?
    var callee: NegotiatedMedia?
    /// Media of caller and callee after a re-INVITE by the callee.
    var renegotiated: (NegotiatedMedia, NegotiatedMedia)?
    var end: SIPEndReason?
  }

  /// Makes a call; `rings` is false for an offer that cannot be answered.
  private func call(
    offering: MediaOffer,
    answering: MediaOffer,
    rings: Bool = true
  ) async throws -> Outcome {
    let alice = UserAgent(.init(hosts: ["127.0.0.1"], port: 0, user: "alice"))
    let bob = UserAgent(.init(hosts: ["127.0.0.1"], port: 0, user: "bob"))
    _ = try await alice.start(offering: offering.encryption)
    let address = try #require(await bob.start(offering: answering.encryption).first)
    var aliceEvents = alice.events.makeAsyncIterator()
    var bobEvents = bob.events.makeAsyncIterator()
    var outcome = Outcome()
    _ = try await alice.invite("sip:bob@\(address)", offer: offering)
    var answered: SIPCallID?
    if rings {
      guard case .incoming(let incoming, let caller) = await bobEvents.next() else {
        return outcome
      }
      outcome.previewed = caller.media
      answered = await bob.answer(incoming, offer: answering) ? incoming : nil
    }
    while outcome.caller == nil, outcome.end == nil {
      switch await aliceEvents.next() {
      case .media(_, let media): outcome.caller = media
      case .ended(_, let reason): outcome.end = reason
      default: break
      }
    }
    while answered != nil, outcome.callee == nil {
      if case .media(_, let media) = await bobEvents.next() { outcome.callee = media }
    }
    if let answered, outcome.caller != nil {
      while true { if case .established = await bobEvents.next() { break } }
      await bob.setHeld(answered, false)
      while true {
        guard case .media(_, let media) = await aliceEvents.next() else { continue }
        while true {
          guard case .media(_, let theirs) = await bobEvents.next() else { continue }
          outcome.renegotiated = (media, theirs)
          break
        }
        break
      }
    }
    await alice.stop()
    await bob.stop()
    return outcome
  }

  @Test(arguments: [false, true])
  func bothSidesLearnTheOthersCertificate(isRequired: Bool) async throws {
    let outcome = try await call(
      offering: offer(alice, port: 4_000, isRequired: isRequired),
      answering: offer(bob, port: 5_000)
    )
    let (caller, callee) = (try #require(outcome.caller), try #require(outcome.callee))
    #expect(outcome.previewed?.encryption?.fingerprint == alice)
    #expect(outcome.previewed?.port == 4_000)
    #expect(caller.encryption?.fingerprint == bob && callee.encryption?.fingerprint == alice)
    // The side that answers begins, so that the handshake runs while it rings.
    #expect(caller.encryption?.beginner == .remote && callee.encryption?.beginner == .local)
    #expect(caller.encryption?.exchangesWords == true)
    #expect(callee.encryption?.exchangesWords == true)
    // Roles stay, with offers of either side.
    let (again, theirs) = try #require(outcome.renegotiated)
    #expect(again.encryption == caller.encryption && theirs.encryption == callee.encryption)
  }

  @Test func anOldPhoneAnswersInTheOpen() async throws {
    let outcome = try await call(
      offering: offer(alice, port: 4_000),
      answering: offer(nil, port: 5_000)
    )
    #expect(outcome.caller != nil && outcome.caller?.encryption == nil)
    #expect(outcome.callee != nil && outcome.callee?.encryption == nil)
  }

  @Test func anOldPhoneCallsInTheOpen() async throws {
    let outcome = try await call(
      offering: offer(nil, port: 4_000),
      answering: offer(bob, port: 5_000)
    )
    #expect(outcome.previewed != nil && outcome.previewed?.encryption == nil)
    #expect(outcome.caller != nil && outcome.caller?.encryption == nil)
  }

  @Test func encryptionThatIsRequiredIsNotDoneWithout() async throws {
    for (offering, answering, rings) in [
      (offer(alice, port: 4_000, isRequired: true), offer(nil, port: 5_000), false),
      (offer(nil, port: 4_000), offer(bob, port: 5_000, isRequired: true), true),
    ] {
      let outcome = try await call(offering: offering, answering: answering, rings: rings)
      #expect(outcome.caller == nil && outcome.callee == nil)
      guard case .refused(488, _)? = outcome.end else {
        Issue.record("not refused: \(String(describing: outcome.end))")
        continue
      }
    }
  }
}
