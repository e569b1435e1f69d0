import CallSecurity
import Foundation
import MediaCore
import SRTP
import Testing

@testable import SIPSignalling
@testable import SidetonePhone

/// Who may be talked to, in virtual time: known peers, other identities, open calls.
struct CallSecurityRulesTests {
  private let uuid = UUID()
  private let sip = SIPCallID(rawValue: 7)
  private let bob: Fingerprint
  private let mallory: Fingerprint
  private let now = MonotonicInstant(nanoseconds: 1_000_000_000)

  init() throws {
    bob = try #require(Fingerprint(bytes: [UInt8](repeating: 1, count: 32)))
    mallory = try #require(Fingerprint(bytes: [UInt8](repeating: 2, count: 32)))
  }

  private func media(_ fingerprint: Fingerprint?) -> NegotiatedMedia {
    .opus(
      encryption: fingerprint.map {
        NegotiatedEncryption(fingerprint: $0, beginner: .remote, exchangesWords: true)
      }
    )
  }

  private func encryption(_ fingerprint: Fingerprint) -> Encryption {
    Encryption(profile: .aeadAES128GCM, fingerprint: fingerprint, words: ["a", "b", "c", "d"])
  }

  private func rule(
    _ record: PeerRecord?,
    _ policy: SecurityPolicy = .preferred
  ) -> SecurityRule {
    SecurityRule(policy, address: "bob@10.0.0.2", record: record)
  }

  /// An outgoing call whose answer agrees on media with a fingerprint, or in the open.
  private func answered(
    _ rule: SecurityRule,
    with fingerprint: Fingerprint?
  ) -> (call: PhoneCall, effects: [PhoneCallEffect]) {
    var call = PhoneCall(outgoing: uuid, to: "sip:bob@10.0.0.2", rule)
    _ = call.handle(.perform(.start(uri: "sip:bob@10.0.0.2")), at: now)
    _ = call.handle(.invited(sip, by: .udp), at: now)
    let effects = call.handle(.agreed(media(fingerprint)), at: now)
    return (call, effects)
  }

  private func reason(_ effects: [PhoneCallEffect]) -> String? {
    for case .tell(.ended(_, let reason, false)) in effects { return reason }
    return nil
  }

  @Test(arguments: [nil, PeerRecord(identity: nil)])
  func aNewIdentityIsTakenAndRemembered(record: PeerRecord?) {
    var (call, effects) = answered(rule(record), with: bob)
    #expect(effects == [.agree(media(bob))])
    #expect(call.protection == nil)
    let secured = call.handle(.encrypted(encryption(bob), isLasting: true), at: now)
    let protection = CallProtection.encrypted(encryption(bob), standing: .new)
    #expect(secured == [.tell(.secured(uuid, protection))])
    let established = call.handle(.established, at: now)
    #expect(established.contains(.remember(address: "bob@10.0.0.2", bob)))
    #expect(call.protection == protection)
  }

  /// Keys that come after the answer are reported and remembered as well.
  @Test func aLateHandshakeIsRemembered() {
    var (call, _) = answered(rule(nil), with: bob)
    let established = call.handle(.established, at: now)
    #expect(!established.contains { if case .remember = $0 { true } else { false } })
    let effects = call.handle(.encrypted(encryption(bob), isLasting: false), at: now)
    let protection = CallProtection.encrypted(encryption(bob), standing: .temporary)
    #expect(
      effects
        == [.tell(.secured(uuid, protection)), .remember(address: "bob@10.0.0.2", nil)]
    )
  }

  @Test(arguments: [false, true])
  func aKnownIdentityIsRecognized(isVerified: Bool) {
    let record = PeerRecord(identity: bob, isVerified: isVerified)
    var (call, effects) = answered(rule(record), with: bob)
    #expect(effects == [.agree(media(bob))])
    _ = call.handle(.encrypted(encryption(bob), isLasting: true), at: now)
    #expect(
      call.protection
        == .encrypted(encryption(bob), standing: isVerified ? .verified : .known)
    )
  }

  /// Nothing is agreed on, so that not a sample is sent.
  @Test func anotherIdentityIsRefused() throws {
    let record = PeerRecord(identity: bob)
    let (call, effects) = answered(rule(record), with: mallory)
    #expect(call.phase == .ended)
    #expect(effects.first == .hangUp(sip, as: .declined))
    #expect(!effects.contains { if case .agree = $0 { true } else { false } })
    let told = try #require(self.reason(effects))
    #expect(told.contains("sidetone peers forget bob@10.0.0.2"))
  }

  @Test(arguments: SecurityPolicy.allCases)
  func whoWasEncryptedIsNeverCalledInTheOpen(policy: SecurityPolicy) throws {
    for record in [PeerRecord(identity: bob), PeerRecord(identity: nil)] {
      #expect(rule(record, policy).isEncryptionRequired)
      let (call, effects) = answered(rule(record, policy), with: nil)
      #expect(call.phase == .ended)
      let told = try #require(self.reason(effects))
      #expect(told.contains("sidetone peers forget bob@10.0.0.2"))
    }
  }

  @Test func anOldPhoneGetsAnOpenCallUnlessEncryptionIsRequired() {
    for policy in [SecurityPolicy.preferred, .off] {
      var (call, effects) = answered(rule(nil, policy), with: nil)
      #expect(effects == [.agree(media(nil))] && call.protection == .open)
      #expect(call.handle(.established, at: now).contains(.tell(.secured(uuid, .open))))
    }
    let (call, effects) = answered(rule(nil, .required), with: nil)
    #expect(call.phase == .ended && reason(effects)?.contains("cannot encrypt") == true)
  }

  /// A re-INVITE may not end the encryption, nor change whom the call is with.
  @Test func anEncryptedCallStaysSo() {
    for other in [nil, mallory] {
      var (call, _) = answered(rule(nil), with: bob)
      _ = call.handle(.established, at: now)
      _ = call.handle(.encrypted(encryption(bob), isLasting: true), at: now)
      #expect(call.handle(.agreed(media(bob)), at: now) == [.agree(media(bob))])
      let effects = call.handle(.agreed(media(other)), at: now)
      #expect(call.phase == .ended && reason(effects)?.contains("another encryption") == true)
    }
  }

  /// What listens at the port for TLS may be something else: an unknown far side is invited again.
  @Test func aMissingConnectionIsDoneWithoutWhereItMayBe() throws {
    let uri = "sip:bob@10.0.0.2"
    let proof = PeerRecord.Signalling.certificate(bob)
    let known = PeerRecord(identity: bob, signalling: proof)
    for (rule, isDoneWithout) in [
      (rule(nil), true), (rule(PeerRecord(identity: bob)), true), (rule(known), false),
      (SecurityRule(.preferred, address: "x", record: nil, isSecureSignallingForced: true), false),
    ] {
      var call = PhoneCall(outgoing: uuid, to: uri, rule)
      _ = call.handle(.perform(.start(uri: uri)), at: now)
      _ = call.handle(.invited(sip, by: .tls), at: now)
      let effects = call.handle(.signallingEnded(.unreachable("broken")), at: now)
      guard isDoneWithout else {
        #expect(call.phase == .ended && reason(effects)?.contains("no encrypted") == true)
        continue
      }
      #expect(effects == [.invite(uri: uri, Attempt(signalsOpenly: true))])
      #expect(call.handle(.invited(sip, by: .udp), at: now) == [.fulfill])
      _ = call.handle(.signallingEnded(.unreachable("broken")), at: now)
      #expect(call.phase == .ended)
    }
  }

  /// A phone that encrypts always refuses an offer that leaves the choice (488): it gets another.
  @Test func aPhoneThatInsistsOnEncryptionIsAskedForIt() {
    let refused = PhoneCallEvent.signallingEnded(.refused(code: 488, phrase: "Not Acceptable"))
    let insisting = Attempt(insistsOnEncryption: true)
    for (rule, isAskedAgain) in [
      (rule(nil), true), (rule(nil, .off), false), (rule(nil, .required), false),
      (rule(PeerRecord(identity: bob)), false),
    ] {
      var call = PhoneCall(outgoing: uuid, to: "sip:b@h", rule)
      _ = call.handle(.perform(.start(uri: "sip:b@h")), at: now)
      _ = call.handle(.invited(sip, by: .udp), at: now)
      let effects = call.handle(refused, at: now)
      guard isAskedAgain else {
        #expect(call.phase == .ended)
        continue
      }
      #expect(effects == [.invite(uri: "sip:b@h", insisting)])
      _ = call.handle(.invited(sip, by: .udp), at: now)
      _ = call.handle(refused, at: now)
      #expect(call.phase == .ended)
    }
  }

  @Test(arguments: [
    ("sip:bob@10.0.0.2", "bob@10.0.0.2"), ("sip:bob@10.0.0.2:5060", "bob@10.0.0.2"),
    ("sip:bob@EXAMPLE.org:5070;transport=tcp", "bob@example.org:5070"),
    ("sip:[fe80::1]:5060", "[fe80::1]"),
  ])
  func addressesAreRememberedByWhatNamesThem(text: String, key: String) throws {
    #expect(try #require(SIPAddress(text)).peerKey == key)
  }
}
