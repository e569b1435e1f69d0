import CallKit
import CallSecurity
import SIPSignalling
import VoiceEngine

/// An action that the call system requests of a call.
enum PhoneCallRequest: Equatable, Sendable {
  /// Invite the far side at a SIP URI.
  case start(uri: String)
  case answer
  case end
  case setMuted(Bool)
  case setHeld(Bool)
  /// Send DTMF digits, coded as in RFC 4733 section 3.2.
  case playDTMF([UInt8])
}

/// An event of a call.
enum PhoneCallEvent: Equatable, Sendable {
  /// An action to perform; one of the effects fulfils or fails it.
  case perform(PhoneCallRequest)

  // Results of effects.
  /// The INVITE has been sent.
  case invited(SIPCallID, by: SIPTransport)
  /// The INVITE could not be sent.
  case inviteFailed(CallEnd)
  /// 200 OK has been sent.
  case accepted
  /// The call could not be answered.
  case acceptFailed(CallEnd)
  /// The keys could not be agreed on, or there is no path for the voice.
  case mediaFailed(CallEnd)
  /// The stream could not start.
  case voiceFailed(String)
  /// The handshake has brought keys; `isLasting` is true if the far side's identity lasts.
  case encrypted(Encryption, isLasting: Bool)

  // Signalling.
  /// The far side rings.
  case progressed
  /// The sides agreed on media, at first or by a re-INVITE of either side.
  case agreed(NegotiatedMedia)
  /// A path for the voice was selected, or another one.
  case routed(MediaRoute)
  /// The dialog is confirmed.
  case established
  /// The far side has refused a re-INVITE of this side's.
  case offerRefused
  /// The far side's signalling has shown that it is still there.
  case present
  /// A re-INVITE could not be sent.
  case renegotiationFailed(String)
  case signallingEnded(SIPEndReason)
  /// The SIP status of the call that the far side was asked to place (REFER).
  case transferProgressed(Int)
  /// The far side's host reports that no SIP phone listens there.
  case unreachable(String)

  // Media, session and time.
  /// The newest figures of the call's stream.
  case mediaReported(StreamStatistics)
  case timePassed
  /// The audio session could not be activated.
  case activationFailed(String)
  /// The call system has forgotten every call.
  case reset
  /// The phone stops, and hangs every call up.
  case phoneStopped
}

/// The terms of an INVITE, which change from one failed attempt to the next.
struct Attempt: Equatable, Sendable {
  /// True to signal without encryption, since no encrypted connection was possible.
  var signalsOpenly = false
  /// The kinds of calls among which the offer lets the far side choose.
  var choice = EncryptionOffer.Choice.any
}

extension SecurityRule {
  /// The kinds of calls among which the first offer lets the far side choose.
  var firstChoice: EncryptionOffer.Choice { isEncryptionRequired ? .encryption : .any }

  /// Returns the choice for the next offer to a far side that has refused an offer's media (488,
  /// 606); nil if none is left.
  ///
  /// Phones that always encrypt refuse an offer that allows unencrypted calls. Phones that support
  /// described keys alone refuse one that requires a handshake. Some phones without encryption
  /// refuse every offer that mentions it.
  func choice(
    after choice: EncryptionOffer.Choice,
    _ transport: SIPTransport?
  ) -> EncryptionOffer.Choice? {
    switch choice {
    case .any: leavesTheChoice ? .encryption : nil
    case .encryption: transport == .tls ? .describedKeys : leavesTheChoice ? .open : nil
    case .describedKeys: leavesTheChoice ? .open : nil
    case .open: nil
    }
  }
}

/// An action that the phone performs for a call.
enum PhoneCallEffect: Equatable, Sendable {
  /// Send an INVITE, then report `invited` or `inviteFailed`.
  case invite(uri: String, Attempt)
  /// Send 200 OK, then report `accepted` or `acceptFailed`.
  case accept(SIPCallID)
  /// Fulfil the action that is being performed.
  case fulfill
  case fail
  /// End the dialog by CANCEL, BYE or a refusal.
  case hangUp(SIPCallID, as: SIPRefusal)
  /// Send a re-INVITE that holds or resumes.
  case sendHold(SIPCallID, Bool)
  /// Query the far side's presence; may report `present` or `signallingEnded`.
  case ask(SIPCallID)
  /// Ask the call system to hold the call; may report `mediaFailed`.
  case hold
  /// Adapt the call's stream to an agreement, or end it if that is nil; may report `voiceFailed`.
  case agree(NegotiatedMedia?)
  /// Send the call's voice over this path from now on; may report `voiceFailed`.
  case route(MediaRoute)
  case mute(MuteState)
  case sendDigits([UInt8])
  case setConference(Int)
  /// Report to the call system.
  case reportConnecting
  case reportConnected
  case reportEnded(CXCallEndedReason)
  /// Report to the user.
  case tell(PhoneEvent)
  /// Remember that the far side at an address was encrypted, and its identity if it has a lasting
  /// one.
  case remember(address: String, Fingerprint?)
  /// Close the port and forget the call, which has ended with this cause.
  case release(CallEnd)
}
