public import CallSecurity
public import Foundation
public import SIPSignalling
public import VoiceEngine

/// An event of interest to a phone's user.
public enum PhoneEvent: Equatable, Sendable {
  /// The phone listens at these addresses.
  case registered(addresses: [String])
  /// An account is registered at a server for the given seconds; the registration is renewed before
  /// they end.
  case accountRegistered(String, server: String, seconds: Int)
  /// An account is not registered; registration is retried after the given seconds, or never if
  /// that is nil.
  case accountUnregistered(String, reason: String, retryingAfter: Int?)
  /// A step in the registration of an account, in words.
  case accountStep(String, String)
  /// The number of new voice messages that wait for an account has changed.
  case messagesWaiting(String, count: Int)
  /// A call arrives.
  case incoming(UUID, from: String)
  /// A call is being placed.
  case calling(UUID, to: String)
  /// The far side rings.
  case ringing(UUID)
  /// Both sides can talk.
  case connected(UUID, to: String)
  /// The protection of a call against eavesdropping is known, perhaps while it still rings.
  case secured(UUID, CallProtection)
  /// The path of a call's voice was selected, by connectivity checks of the two sides.
  case routed(UUID, MediaRoute)
  /// The user has compared the words of a call with the far side's.
  case verified(UUID)
  /// This side holds a call.
  case held(UUID)
  /// This side has resumed a call.
  case resumed(UUID)
  /// The far side holds a call.
  case heldByFarSide(UUID)
  /// The far side has resumed a call.
  case resumedByFarSide(UUID)
  /// A call has another far side from now on, as an account's server asserts (RFC 5876).
  case renamed(UUID, to: String)
  /// The far side of a call was asked to call another one.
  case transferring(UUID, to: String)
  /// The far side of a call asks this side to call another one, for `Phone.acceptTransfer` or
  /// `declineTransfer` to answer.
  case transferRequested(UUID, to: String)
  /// A call is in a conference with another.
  case joined(UUID, with: UUID)
  /// A call has left its conference.
  case separated(UUID)
  /// A call is being recorded to a file; the far side hears a tone.
  case recording(UUID, file: String)
  /// A recording has ended; `reason` is its first error, nil without one.
  case recordingEnded(UUID, file: String, reason: String?)
  /// The far side sent a DTMF digit.
  case pressed(UUID, key: String)
  /// A call is over.
  case ended(UUID, CallEnd)
  /// The audio session is active: devices are taken.
  case audioActivated
  /// The audio session is inactive: devices are released, or kept for half a second if another call
  /// may want them.
  case audioDeactivated
  /// A call continues with other devices, given by the names that open them; nil for a direction
  /// that has none.
  ///
  /// The reason is named as `AVAudioSession.RouteChangeReason` names it.
  case routeChanged(reason: String, microphone: String?, loudspeaker: String?)
  /// The sound server that a call uses has gone; the call continues in silence.
  case mediaServicesLost
  /// The sound server is back, and so is the call's sound.
  case mediaServicesReset
  /// A problem to show to the user, in words.
  case error(String)
}

/// The figures of the active call.
public struct CallStatistics: Equatable, Sendable {
  /// The call.
  public let call: UUID
  /// Seconds since it was connected.
  public let seconds: Double
  /// True while silence is sent.
  public let isMuted: Bool
  /// The protection of the call against eavesdropping.
  public let protection: CallProtection
  /// The stream's figures.
  public let stream: StreamStatistics
  /// The device's figures.
  public let engine: EngineStatistics
  /// True once the voice thread has real-time scheduling, from the system or from a service.
  public let isRealTime: Bool
}
