import CallSecurity
import Foundation
import MediaCore
import SRTP
import Testing

@testable import SIPSignalling
@testable import SidetonePhone

/// Security rules of calls in virtual time: known peers, other identities, unencrypted calls.
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

  /// An outgoing call whose answer negotiates media with `fingerprint`, unencrypted if that is nil.
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
    for case .tell(.ended(_, .securityRefused(let reason))) in effects { return reason }
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

  /// The media is not agreed on, so that not a sample is sent.
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

  /// An unencrypted re-INVITE that precedes the keys ends the call.
  ///
  /// Keys that the agreed media do not name change nothing.
  @Test func anOfferInFrontOfTheKeysOpensNothing() {
    var (call, _) = answered(rule(nil), with: bob)
    _ = call.handle(.established, at: now)
    let effects = call.handle(.agreed(media(nil)), at: now)
    #expect(call.phase == .ended && !effects.contains(.agree(media(nil))))
    // Keys of another handshake than the one that was agreed on say nothing.
    (call, _) = answered(rule(nil), with: bob)
    #expect(call.handle(.encrypted(encryption(mallory), isLasting: true), at: now).isEmpty)
    #expect(call.protection == nil)
    (call, _) = answered(rule(nil), with: nil)
    _ = call.handle(.established, at: now)
    #expect(call.handle(.encrypted(encryption(bob), isLasting: true), at: now).isEmpty)
    #expect(call.protection == .open)
  }

  /// A call that becomes encrypted later reports it.
  @Test func anOpenCallMayBecomeEncrypted() {
    var (call, _) = answered(rule(nil), with: nil)
    _ = call.handle(.established, at: now)
    _ = call.handle(.agreed(media(bob)), at: now)
    #expect(call.protection == nil)
    let effects = call.handle(.encrypted(encryption(bob), isLasting: true), at: now)
    let protection = CallProtection.encrypted(encryption(bob), standing: .new)
    #expect(effects.first == .tell(.secured(uuid, protection)))
  }

  /// A re-INVITE may neither end the encryption nor change the peer's identity.
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

  /// An address that asks for UDP, as a link may, does not override a peer's known encrypted
  /// signalling.
  @Test func whatWasEncryptedIsNotOpenedByAnAddress() throws {
    let proof = PeerRecord.Signalling.certificate(bob)
    let address = try #require(SIPAddress("sip:bob@127.0.0.1:1;transport=udp"))
    func route(_ rule: SecurityRule) -> CallRoute {
      CallRoute(address: address, host: "127.0.0.1", localHost: "127.0.0.1", rule: rule)
    }
    #expect(try route(rule(nil)).chooseTransport() == .udp)
    #expect(try route(rule(PeerRecord(identity: bob))).chooseTransport() == .udp)
    #expect(throws: CallEnd.self) {
      try route(rule(PeerRecord(identity: bob, signalling: proof))).chooseTransport()
    }
  }

  /// A peer that is not known to signal by TLS is invited again by UDP.
  ///
  /// Another program may be listening at its TLS port.
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
      let open = Attempt(signalsOpenly: true, choice: rule.firstChoice)
      #expect(effects == [.invite(uri: uri, open)])
      #expect(call.handle(.invited(sip, by: .udp), at: now) == [.fulfill])
      _ = call.handle(.signallingEnded(.unreachable("broken")), at: now)
      #expect(call.phase == .ended)
    }
  }

  /// An offer refused with 488 is followed by another one.
  ///
  /// A phone that always encrypts refuses optional encryption, and one that only takes keys from
  /// descriptions refuses a handshake.
  @Test(arguments: [SIPTransport.udp, .tls])
  func aRefusedOfferIsFollowedByAnother(transport: SIPTransport) {
    let refused = PhoneCallEvent.signallingEnded(.refused(code: 488, phrase: "Not Acceptable"))
    for (rule, choices) in [
      (rule(nil), [EncryptionOffer.Choice.any, .encryption, .describedKeys, .open]),
      (rule(nil, .off), [.any]), (rule(nil, .required), [.encryption, .describedKeys]),
      (rule(PeerRecord(identity: bob)), [.encryption, .describedKeys]),
    ] {
      let made = transport == .tls ? choices : choices.filter { $0 != .describedKeys }
      var call = PhoneCall(outgoing: uuid, to: "sip:b@h", rule)
      var effects = call.handle(.perform(.start(uri: "sip:b@h")), at: now)
      for choice in made {
        #expect(effects == [.invite(uri: "sip:b@h", Attempt(choice: choice))])
        _ = call.handle(.invited(sip, by: transport), at: now)
        effects = call.handle(refused, at: now)
      }
      #expect(call.phase == .ended)
      // Without an open offer it may have been the encryption that was refused.
      let words = reason(effects)
      #expect((words != nil) == rule.isEncryptionRequired)
      #expect(words.map { $0.hasPrefix("no common codec, or ") } ?? true)
    }
  }

  /// Keys from the description encrypt the call but prove no identity.
  @Test func describedKeysAreEncryptionWithoutIdentity() throws {
    let keys = try SRTPKeys.toItself(.aes128CMSHA1Tag80)
    let media = NegotiatedMedia.opus(describedKeys: keys)
    let encryption = Encryption(profile: .aes128CMSHA1Tag80, fingerprint: nil, words: nil)
    let protection = CallProtection.encrypted(encryption, standing: .temporary)
    var call = PhoneCall(outgoing: uuid, to: "sip:b@h", rule(nil))
    _ = call.handle(.perform(.start(uri: "sip:b@h")), at: now)
    _ = call.handle(.invited(sip, by: .tls), at: now)
    let effects = call.handle(.agreed(media), at: now)
    #expect(effects == [.tell(.secured(uuid, protection)), .agree(media)])
    let established = call.handle(.established, at: now)
    #expect(established.contains(.remember(address: "bob@10.0.0.2", nil)))
    // Other keys are welcome, an open call is not.
    let others = NegotiatedMedia.opus(describedKeys: try .toItself(.aes128CMSHA1Tag80))
    #expect(call.handle(.agreed(others), at: now) == [.agree(others)])
    _ = call.handle(.agreed(.opus()), at: now)
    #expect(call.phase == .ended)
    // Who has an identity does not come without it.
    var known = PhoneCall(outgoing: uuid, to: "sip:b@h", rule(PeerRecord(identity: bob)))
    _ = known.handle(.perform(.start(uri: "sip:b@h")), at: now)
    _ = known.handle(.invited(sip, by: .tls), at: now)
    _ = known.handle(.agreed(media), at: now)
    #expect(known.phase == .ended)
  }

  @Test(arguments: [
    ("sip:bob@10.0.0.2", "bob@10.0.0.2"), ("sip:bob@10.0.0.2:5060", "bob@10.0.0.2"),
    ("sip:bob@EXAMPLE.org:5070;transport=tcp", "bob@example.org:5070"),
    ("sip:[fe80::1]:5060", "[fe80::1]"), ("sip:x$(cmd)@h", "x%24%28cmd%29@h"),
  ])
  func addressesAreRememberedByWhatNamesThem(text: String, key: String) throws {
    #expect(try #require(SIPAddress(text)).peerKey == key)
  }
}
