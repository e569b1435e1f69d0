import Foundation
import MediaCore
import SIPSignalling

/// One call of a phone, with all that the phone holds for it.
///
/// The state of the call is a `PhoneCall`, a value of `PhoneControl`; this is what that value's
/// effects act on. Confined to the phone.
final class LiveCall {
  /// The far side of a call, by who called.
  enum FarSide {
    /// The route to the far side that this side has called.
    case called(CallRoute)
    /// The claim of the far side that has called, and the source of its message.
    case caller(CallOrigin)
  }

  let leg: MediaLeg
  let farSide: FarSide
  /// Task that collects the ICE candidates while the call rings.
  var pathTask: Task<Void, Never>?
  /// Target that the far side asks this side to call.
  var requestedTransfer: TransferTarget?
  /// Transfer request for which the call was placed.
  var transfer: RequestedCall?
  /// The call that this one replaces.
  var replacement: PhoneControl.Replacement?
  var recording: CallRecording?

  init(_ leg: MediaLeg, _ farSide: FarSide) {
    self.leg = leg
    self.farSide = farSide
  }

  /// Route of an outgoing call; nil for an incoming one.
  var route: CallRoute? {
    guard case .called(let route) = farSide else { return nil }
    return route
  }

  /// Origin of an incoming call; nil for an outgoing one.
  var origin: CallOrigin? {
    guard case .caller(let origin) = farSide else { return nil }
    return origin
  }

  /// Address of the account that the call goes through; nil for one without a server.
  var account: String? {
    switch farSide {
    case .called(let route): route.account
    case .caller(let origin): origin.account
    }
  }
}

/// A request for a transfer whose far side has hung up.
struct LeftRequest {
  let call: UUID
  let target: TransferTarget
  /// Address of the account that the call went through; nil for one without a server.
  let account: String?
  /// Time at which the far side hung up.
  let at: MonotonicInstant

  /// Time in seconds for the user to decide.
  static let seconds: Int64 = 60

  /// True while the user may still follow it.
  func isValid(at now: MonotonicInstant) -> Bool {
    now.nanoseconds(since: at) < Self.seconds * 1_000_000_000
  }
}

/// A request of a far side to call another one.
struct RequestedCall {
  /// Signalling's identifier of the call in which it was asked for.
  let id: SIPCallID
  /// The call that was active before and is held for it; nil for none.
  let interrupted: UUID?
}
