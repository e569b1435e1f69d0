import CallKit
import CallSecurity
import SIPSignalling
import VoiceEngine

/// What the call system asks of a call.
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

/// Something that happened to a call.
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
  /// The keys could not be agreed on, or there is no way for the voice.
  case mediaFailed(CallEnd)
  /// The stream could not start.
  case voiceFailed(String)
  /// The handshake has brought keys; `isLasting` says whether the far side has an identity.
  case encrypted(Encryption, isLasting: Bool)

  // Signalling.
  /// The far side rings.
  case progressed
  /// The sides agreed on media, at first or by a re-INVITE of either side.
  case agreed(NegotiatedMedia)
  /// A way for the voice is known, or another one.
  case routed(MediaRoute)
  /// The dialog is confirmed.
  case established
  /// The far side does not take a re-INVITE of this side's.
  case offerRefused
  /// The far side's signalling has answered whether it is still there.
  case present
  /// A re-INVITE could not be sent.
  case renegotiationFailed(String)
  case signallingEnded(SIPEndReason)
  /// The status of the call that the far side was asked to make.
  case transferProgressed(Int)
  /// The far host says that no SIP phone listens there.
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

/// How a far side is invited, if the usual way has come to nothing.
struct Attempt: Equatable, Sendable {
  /// In the open: there is no encrypted connection.
  var signalsOpenly = false
  /// What the offer leaves to the far side.
  var choice = EncryptionOffer.Choice.any
}

extension SecurityRule {
  /// What the first offer leaves to the far side.
  var firstChoice: EncryptionOffer.Choice { isEncryptionRequired ? .encryption : .any }

  /// The next choice for a far side that has refused an offer's media (488), nil if none is left.
  ///
  /// Phones that always encrypt refuse an offer that leaves the choice, those that know nothing but
  /// described keys one that asks for a handshake, and some that know no encryption each that
  /// names one.
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

/// What is to be done about a call.
enum PhoneCallEffect: Equatable, Sendable {
  /// Send an INVITE, then report `invited` or `inviteFailed`.
  case invite(uri: String, Attempt)
  /// Send 200 OK, then report `accepted` or `acceptFailed`.
  case accept(SIPCallID)
  /// Answer the action that is being performed.
  case fulfill
  case fail
  /// End the dialog by CANCEL, BYE or a refusal.
  case hangUp(SIPCallID, as: SIPRefusal)
  /// Send a re-INVITE that holds or resumes.
  case sendHold(SIPCallID, Bool)
  /// Ask the far side whether it is still there; may report `signallingEnded`.
  case ask(SIPCallID)
  /// Ask the call system to hold the call; may report `mediaFailed`.
  case hold
  /// What the call's stream has to be like from now on; nil for none. May report `voiceFailed`.
  case agree(NegotiatedMedia?)
  /// The way that the call's voice takes from now on. May report `voiceFailed`.
  case route(MediaRoute)
  case mute(MuteState)
  case sendDigits([UInt8])
  case setConference(Int)
  /// Tell the call system.
  case reportConnecting
  case reportConnected
  case reportEnded(CXCallEndedReason)
  /// Tell the user.
  case tell(PhoneEvent)
  /// Remember the far side at an address: encrypted, and its identity if it has one.
  case remember(address: String, Fingerprint?)
  /// Close the port and forget the call.
  case release
}
