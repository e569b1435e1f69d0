import CallKit
import CallSecurity
import Foundation
import MediaCore
import SIPSignalling
import SRTP
import VoiceEngine

/// The state machine of one call of a phone, without I/O.
///
/// `handle` takes one event and returns effects, which the phone performs in order. Time is an
/// argument. The phases and their transitions:
///
/// | Phase | Event | Next phase |
/// |---|---|---|
/// | `dialing` | `invited` | `inviting` |
/// | `dialing` | `inviteFailed` | `ended` |
/// | `inviting` with an attempt left | `signallingEnded`: no TLS connection, 488, 606 | `dialing` |
/// | `ringing` | `accepted` | `answering` |
/// | `inviting`, `answering` | `established` | `established` |
/// | all but `ended` | `perform(.end)`, `signallingEnded`, `mediaFailed` | `ended` |
/// | all but `ended` | a transfer that has succeeded | `ended` |
/// | all but `ended` | `reset`, `phoneStopped` | `ended` |
/// | `dialing`, `inviting` without media | `unreachable` | `ended` |
/// | `inviting` | three minutes without progress | `ended` |
/// | all but `ended` | media that the rule of encryption refuses | `ended` |
/// | all but `ended` | a media timeout, a resume without an answer | `ended` |
/// | all but `ended` | `voiceFailed`, unless it is after a resume | `ended` |
///
/// Every other event leaves the phase as it is. A call that has ended returns no effects.
struct PhoneCall: Equatable, Sendable {
  /// The phase of a call.
  enum Phase: Equatable, Sendable {
    /// Outgoing; no INVITE has been sent.
    case dialing
    /// Outgoing; the far side has not answered.
    case inviting
    /// Incoming; it stops ringing at the given time.
    case ringing(until: MonotonicInstant)
    /// Incoming; 200 OK has been sent, ACK has not arrived.
    case answering
    /// Both sides can talk, since the given time.
    case established(since: MonotonicInstant)
    case ended
  }

  /// The encryption by a handshake or by described keys.
  private struct Encrypted: Equatable {
    let encryption: Encryption
    let isLasting: Bool

    var claim: MediaClaim { encryption.fingerprint.map { .identity($0) } ?? .keys }
  }

  private struct Invitation: Equatable {
    let uri: String
    var transport: SIPTransport?
    var attempt: Attempt
  }

  let uuid: UUID
  let isOutgoing: Bool
  let rule: SecurityRule
  /// The far side, as it is shown to the user.
  var remote: String
  /// Signalling's identifier; nil before an INVITE was sent, and after the dialog has ended.
  private(set) var sip: SIPCallID?
  private(set) var phase: Phase
  /// The latest INVITE to the far side; nil for an incoming call.
  private var invitation: Invitation?
  private(set) var isMuted = false
  /// True for a call through an account's server.
  var isByServer = false
  /// True for a call from a network without calls before that no account's server passed on by TLS.
  var isByStranger = false
  /// The call's conference, whose members hear each other; 0 for none.
  var conference = 0
  var media: NegotiatedMedia?
  /// The encryption of the call; nil before keys are there, and in an unencrypted call.
  private var encrypted: Encrypted?
  /// The claim of the media that was agreed on last, kept during a hold.
  private var claim: MediaClaim?
  /// The protection that was last reported to the user.
  private var told: CallProtection?
  var hold = Hold()
  /// Time at which the far side last signalled ringing, or was invited.
  private var progressedAt: MonotonicInstant?
  /// Time of the last presence query while no voice is expected, or of the beginning of that; nil
  /// while voice is expected.
  private var askedAt: MonotonicInstant?
  /// Time at which the far side's signalling last showed its presence.
  var presentAt: MonotonicInstant?
  /// The reason to give when the call system ends the call.
  private var ending: CallEnd?

  /// Time for a far side to agree to a resume, in nanoseconds: RFC 3261's timer B, and 3 s more.
  private static let agreementNanoseconds: Int64 = 35_000_000_000
  /// Longest time without a provisional response, in nanoseconds: RFC 3261's timer C.
  private static let ringingNanoseconds: Int64 = 180_000_000_000
  /// Time without packets, in nanoseconds, up to which early media counts as heard.
  private static let heardNanoseconds: Int64 = 2_000_000_000
  /// Interval of presence queries while no voice is expected, in nanoseconds.
  static let questionNanoseconds: Int64 = 30_000_000_000
  /// Time after a resume in which an answer to the hold may still arrive, in nanoseconds.
  private static let lateAnswerNanoseconds: Int64 = 1_000_000_000

  /// An outgoing call, before its start action is performed.
  init(outgoing uuid: UUID, to remote: String, _ rule: SecurityRule) {
    self.rule = rule
    self.uuid = uuid
    isOutgoing = true
    self.remote = remote
    phase = .dialing
  }

  /// An incoming call, which rings.
  init(
    incoming uuid: UUID,
    from remote: String,
    sip: SIPCallID,
    ringsUntil deadline: MonotonicInstant,
    _ rule: SecurityRule
  ) {
    self.rule = rule
    self.uuid = uuid
    isOutgoing = false
    self.remote = remote
    self.sip = sip
    phase = .ringing(until: deadline)
  }

  /// The protection of the call against eavesdropping; nil before that is known.
  var protection: CallProtection? {
    if claim == .open { return .open }
    if let encrypted {
      return .encrypted(
        encrypted.encryption,
        standing: rule.standing(isLasting: encrypted.isLasting)
      )
    }
    return nil
  }

  /// The transport of the latest INVITE to the far side; nil before it, and for an incoming call.
  var transport: SIPTransport? { invitation?.transport }

  /// True while this side holds the call.
  var isHeld: Bool { hold.isHeld }

  /// True while a caller waits for an answer.
  var isRinging: Bool { if case .ringing = phase { true } else { false } }

  /// True while the call has the audio, or is to have it once the far side answers.
  var isActive: Bool { !isHeld && !isRinging }

  /// Time since which both sides can talk; nil before.
  var establishedAt: MonotonicInstant? {
    if case .established(let since) = phase { since } else { nil }
  }

  /// Applies an event and returns the resulting effects, in order.
  mutating func handle(_ event: PhoneCallEvent, at now: MonotonicInstant) -> [PhoneCallEffect] {
    guard phase != .ended else { return [] }
    switch event {
    case .perform(let request):
      return perform(request, at: now)
    case .invited(let sip, let transport):
      // A second dialog for one call is one too many.
      guard phase == .dialing else { return [.hangUp(sip, as: .declined), .fail] }
      self.sip = sip
      invitation?.transport = transport
      phase = .inviting
      progressedAt = now
      // The dialog before may have ended before it could be held.
      return [.fulfill] + (hold.isHeld ? [.sendHold(sip, true)] : [])
    case .inviteFailed(let ending):
      guard phase == .dialing else { return [.fail] }
      // The action that fails ends the call for the call system. A later INVITE has no action.
      return [.fail] + (progressedAt == nil ? finish(ending) : conclude(ending, as: .failed))
    case .accepted:
      guard case .ringing = phase else { return [.fail] }
      phase = .answering
      return [.fulfill]
    case .acceptFailed(let reason):
      // The call system ends a call whose answer action has failed.
      ending = ending ?? reason
      return [.fail]
    case .progressed:
      progressedAt = now
      return [.reportConnecting, .tell(.ringing(uuid))]
    case .agreed(let media):
      return agree(on: media)
    case .routed(let route):
      return [.route(route), .tell(.routed(uuid, route))]
    case .established:
      return establish(at: now)
    case .offerRefused:
      return goOnAsBefore()
    case .renegotiationFailed(let reason):
      return [.tell(.error("the far side was not notified of a change: \(reason)"))]
    case .signallingEnded(let reason):
      sip = nil
      if let effects = inviteAgain(after: reason) { return effects }
      let wasEstablished = establishedAt != nil
      let end = end(by: reason, wasConnected: wasEstablished)
      return conclude(end, as: wasEstablished ? .remoteEnded : end.reasonBeforeConnection)
    case .transferProgressed(let status):
      return conclude(transferWith: status)
    case .unreachable(let reason):
      // An answer shows that the far side was reached after all.
      guard isOutgoing, establishedAt == nil, media == nil else { return [] }
      return abandon(.unreachable(reason))
    case .mediaFailed(let end):
      return abandon(end)
    case .voiceFailed(let reason):
      guard let resume = hold.resume else { return abandon(.failed(reason)) }
      // A call that was on hold may as well stay there.
      hold.resume = .failed
      return resume == .failed ? [] : [.tell(.error(reason)), .hold]
    case .encrypted(let encryption, let isLasting):
      return note(Encrypted(encryption: encryption, isLasting: isLasting))
    case .mediaReported(let statistics):
      // Early media may be silent while the far side rings; once heard, its machine is there.
      guard let establishedAt else {
        let isHeard =
          statistics.packetsReceived > 0 && statistics.silenceNanoseconds < Self.heardNanoseconds
        if isHeard, progressedAt != nil { progressedAt = now }
        return []
      }
      return judge(statistics, since: establishedAt, at: now)
    case .present:
      presentAt = now
      return []
    case .timePassed:
      return advance(to: now)
    case .activationFailed(let reason):
      noteActivationFailure(reason)
      return []
    case .reset:
      return hangUp(as: .declined)
        + finish(.failed("the call system was reset"))
    case .phoneStopped:
      return conclude(hangUpEnding, as: .remoteEnded)
    }
  }

  // MARK: The call system's requests

  private mutating func perform(
    _ request: PhoneCallRequest,
    at now: MonotonicInstant
  ) -> [PhoneCallEffect] {
    switch request {
    case .start(let uri):
      guard phase == .dialing else { return [.fail] }
      let attempt = Attempt(choice: rule.firstChoice)
      invitation = Invitation(uri: uri, attempt: attempt)
      return [.invite(uri: uri, attempt)]
    case .answer:
      if case .ringing = phase, let sip { return [.accept(sip)] }
      return [.fail]
    case .end:
      let ending = ending ?? hangUpEnding
      return hangUp(as: refusal(at: now)) + finish(ending) + [.fulfill]
    case .setMuted(let isMuted):
      self.isMuted = isMuted
      return [.mute(isMuted ? .muted : .unmuted), .fulfill]
    case .setHeld(let isHeld):
      return setHeld(isHeld, at: now)
    case .playDTMF(let digits):
      guard !hold.isHeld else { return [.fail] }
      guard media != nil || establishedAt != nil else {
        return [.tell(.error("DTMF digits cannot be sent before the far side answers")), .fail]
      }
      // They would arrive when it resumes the call, and mean something else by then.
      guard media?.maySend != false else {
        return [.tell(.error("the far side holds the call and takes no DTMF digits")), .fail]
      }
      guard media == nil || media?.sendEventPayloadType != nil else {
        return [.tell(.error("the far side accepts no DTMF digits")), .fail]
      }
      return [.sendDigits(digits), .fulfill]
    }
  }

  // A call that was not answered, or failed here, was not declined: other devices of the same
  // user may ring on.
  private func refusal(at now: MonotonicInstant) -> SIPRefusal {
    if case .ringing(let deadline) = phase, now >= deadline { return .unavailable }
    return ending == nil ? .declined : .unavailable
  }

  // The former agreement is void at once; the voice waits for the answer to the re-INVITE.
  private mutating func setHeld(_ isHeld: Bool, at now: MonotonicInstant) -> [PhoneCallEffect] {
    hold.isHeld = isHeld
    // A far side that still rings agrees once it answers.
    hold.resumedAt = isHeld || establishedAt == nil ? nil : now
    hold.resume = hold.resumedAt == nil ? nil : .begun
    ending = nil
    hold.former = media ?? hold.former
    media = nil
    let reinvite = sip.map { [PhoneCallEffect.sendHold($0, isHeld)] } ?? []
    return [.agree(nil)] + reinvite + [.tell(isHeld ? .held(uuid) : .resumed(uuid)), .fulfill]
  }

  private mutating func noteActivationFailure(_ reason: String) {
    switch phase {
    case .dialing, .ringing, .ended: return
    case .inviting, .answering, .established: break
    }
    guard ending == nil, !hold.isHeld else { return }
    ending = .failed(reason)
  }

  // MARK: Signalling and media

  private mutating func establish(at now: MonotonicInstant) -> [PhoneCallEffect] {
    // A re-INVITE establishes nothing new.
    guard phase == .inviting || phase == .answering else { return [] }
    phase = .established(since: now)
    // A call may begin on hold.
    let change = media?.maySend == false && !hold.isHeld ? noteFarHold(true) : []
    return (isOutgoing ? [.reportConnected] : []) + [.tell(.connected(uuid, to: remote))]
      + tellingProtection() + change + remembering
  }

  // MARK: Encryption

  private mutating func inviteAgain(after reason: SIPEndReason) -> [PhoneCallEffect]? {
    guard phase == .inviting, var invitation else { return nil }
    switch reason {
    case .unreachable
    where invitation.transport == .tls && !rule.mayNotSignalOpenly
      && !invitation.attempt.signalsOpenly:
      // What listens at the port for TLS may be another service.
      invitation.attempt.signalsOpenly = true
    case .refused(488, _), .refused(606, _):
      guard let next = rule.choice(after: invitation.attempt.choice, invitation.transport) else {
        return nil
      }
      invitation.attempt.choice = next
    default:
      return nil
    }
    self.invitation = invitation
    phase = .dialing
    return [.invite(uri: invitation.uri, invitation.attempt)]
  }

  // A handshake that is not the one that the sides agreed on says nothing of this call.
  private mutating func note(_ encrypted: Encrypted) -> [PhoneCallEffect] {
    guard claim == nil || claim == encrypted.claim else { return [] }
    self.encrypted = encrypted
    return tellingProtection() + remembering
  }

  // That everybody can listen is no news before somebody can be heard.
  private mutating func tellingProtection() -> [PhoneCallEffect] {
    guard let protection, protection != told, protection != .open || establishedAt != nil else {
      return []
    }
    told = protection
    return [.tell(.secured(uuid, protection))]
  }

  // Nobody is recognized by them.
  private mutating func noteDescribedKeys(_ agreed: NegotiatedMedia) -> [PhoneCallEffect] {
    guard encrypted == nil, let keys = agreed.describedKeys else { return [] }
    let encryption = Encryption(profile: keys.profile, fingerprint: nil, words: nil)
    return note(Encrypted(encryption: encryption, isLasting: false))
  }

  // Whom the user has called or answered is remembered; a caller who only rang could be anybody.
  private var remembering: [PhoneCallEffect] {
    guard establishedAt != nil, let encrypted else { return [] }
    let identity = encrypted.isLasting ? encrypted.encryption.fingerprint : nil
    return [.remember(address: rule.address, identity)]
  }

  // An open call with who may only be encrypted, another identity, or the end of an encryption.
  private func refusal(of agreed: NegotiatedMedia) -> String? {
    if let refusal = rule.refusal(of: agreed.claim) { return refusal }
    guard let before = claim ?? encrypted?.claim, before != .open else { return nil }
    return agreed.claim == before
      ? nil : "the far side wants to go on with another encryption, or none"
  }

  private mutating func agree(on agreed: NegotiatedMedia) -> [PhoneCallEffect] {
    if let refusal = refusal(of: agreed) { return abandon(.securityRefused(refusal)) }
    let hadMedia = media != nil
    media = agreed
    hold.former = nil
    claim = agreed.claim
    // While this side holds the call, the direction says nothing about the far side.
    guard !hold.isHeld else { return [] }
    // Nor does a first agreement after a resume that forbids sending: it may answer the hold.
    let isTelling = hadMedia || agreed.maySend
    let change = isTelling ? noteFarHold(!agreed.maySend) : []
    let known = noteDescribedKeys(agreed) + tellingProtection()
    return change + known + [.agree(agreed)]
  }

  private mutating func noteFarHold(_ isHeld: Bool) -> [PhoneCallEffect] {
    guard hold.isHeldByFarSide != isHeld else { return [] }
    hold.isHeldByFarSide = isHeld
    return [.tell(isHeld ? .heldByFarSide(uuid) : .resumedByFarSide(uuid))]
  }

  private mutating func advance(to now: MonotonicInstant) -> [PhoneCallEffect] {
    if phase == .inviting, let progressedAt,
      now.nanoseconds(since: progressedAt) > Self.ringingNanoseconds
    {
      // Its machine may have gone while it rang, and then no message ends the call.
      return hangUp(as: .declined) + conclude(.noAnswer, as: .unanswered)
    }
    let question = askDuringHold(at: now)
    guard !hold.isHeld, let resumed = hold.resumedAt else { return question }
    let waited = now.nanoseconds(since: resumed)
    guard let media else {
      guard waited > Self.agreementNanoseconds else { return question }
      return abandon(.lost("the far side does not resume the call"))
    }
    // An agreement that still forbids sending is no late answer: the far side holds the call too.
    guard !media.maySend, waited > Self.lateAnswerNanoseconds else { return question }
    return question + noteFarHold(true)
  }

  // No voice shows that the far side lives, so its signalling has to.
  private mutating func askDuringHold(at now: MonotonicInstant) -> [PhoneCallEffect] {
    let isNothingToHear = hold.isHeld || hold.isHeldByFarSide || media?.mayReceive == false
    guard establishedAt != nil, let sip, isNothingToHear else {
      askedAt = nil
      return []
    }
    guard let before = askedAt else {
      askedAt = now
      return []
    }
    guard now.nanoseconds(since: before) > Self.questionNanoseconds else { return [] }
    askedAt = now
    return [.ask(sip)]
  }

  // MARK: Ends

  private func end(by reason: SIPEndReason, wasConnected: Bool) -> CallEnd {
    switch reason {
    case .strangeIdentity: .securityRefused(rule.strangeIdentity)
    case .unreachable where rule.mayNotSignalOpenly: .securityRefused(rule.missingConnection)
    // The response does not tell what of the description was refused, nor does an answer without
    // keys to an offer that demands them.
    case .noCommonCodec where isOutgoing && !wasConnected && rule.isEncryptionRequired,
      .refused(488, _) where isOutgoing && !wasConnected && rule.isEncryptionRequired:
      .securityRefused(
        "no common codec, or the far side does not take the encryption that this call has to have"
      )
    default: CallEnd(reason, wasConnected: wasConnected)
    }
  }

  private var hangUpEnding: CallEnd { establishedAt == nil ? .cancelled : .hungUp }

  private mutating func hangUp(as refusal: SIPRefusal) -> [PhoneCallEffect] {
    guard let sip else { return [] }
    self.sip = nil
    return [.hangUp(sip, as: refusal)]
  }

  /// Ends the call as failed, and notifies the far side and the call system.
  mutating func abandon(_ end: CallEnd) -> [PhoneCallEffect] {
    hangUp(as: .declined) + conclude(end, as: .failed)
  }

  /// Ends the call without a request of the call system, and reports the end to it.
  private mutating func conclude(
    _ ending: CallEnd,
    as reason: CXCallEndedReason
  ) -> [PhoneCallEffect] {
    [.reportEnded(reason)] + finish(ending)
  }

  // The far side talks to another one now, or goes on with this one.
  private mutating func conclude(transferWith status: Int) -> [PhoneCallEffect] {
    switch status {
    case ..<200: return []
    case 200..<300:
      return hangUp(as: .declined)
        + conclude(.transferred, as: .remoteEnded)
    default:
      let end = CallEnd(code: status, phrase: "")
      return [.tell(.error("the transfer failed: \(end)"))]
    }
  }

  private mutating func finish(_ ending: CallEnd) -> [PhoneCallEffect] {
    phase = .ended
    return [.release(ending), .tell(.ended(uuid, ending))]
  }
}
