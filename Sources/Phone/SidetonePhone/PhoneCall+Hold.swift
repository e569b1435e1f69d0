import MediaCore
import SIPSignalling

extension PhoneCall {
  /// The hold state of a call, for both sides.
  struct Hold: Equatable, Sendable {
    /// The state of a resume that has brought no voice yet.
    enum Resume: Equatable, Sendable {
      case begun
      /// The voice could not start, and the call is about to be held again.
      case failed
    }

    var isHeld = false
    var isHeldByFarSide = false
    /// Time at which this side last resumed the call, since which the far side has to agree to
    /// media; nil while held, and before the call is established.
    var resumedAt: MonotonicInstant?
    /// The state of the last resume; nil without one, and once there is voice.
    var resume: Resume?
    /// The agreement before a hold or resume that the far side has not agreed to; nil without one.
    var former: NegotiatedMedia?
  }

  /// Restores the former agreement after the far side has refused the re-INVITE that resumes; does
  /// nothing while this side holds the call.
  mutating func goOnAsBefore() -> [PhoneCallEffect] {
    guard !hold.isHeld, media == nil, let former = hold.former else { return [] }
    media = former
    hold.former = nil
    return [.agree(former)]
  }
}
