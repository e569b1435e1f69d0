import MediaCore
import SIPSignalling

extension PhoneCall {
  /// This side's hold, and what is known of the far side's.
  struct Hold: Equatable, Sendable {
    /// How far a resume has come that has brought no voice yet.
    enum Resume: Equatable, Sendable {
      case begun
      /// The voice could not start, and the call is about to be held again.
      case failed
    }

    var isHeld = false
    var isHeldByFarSide = false
    /// When this side resumed the call: an agreement has to follow.
    var resumedAt: MonotonicInstant?
    /// Nil if there was no resume, or once there is a voice.
    var resume: Resume?
    /// The agreement before a hold that the far side has not agreed to.
    var former: NegotiatedMedia?
  }

  /// Goes on with the agreement before, if the far side has taken neither the hold nor its end: the
  /// hold was this side's alone.
  mutating func goOnAsBefore() -> [PhoneCallEffect] {
    guard !hold.isHeld, media == nil, let former = hold.former else { return [] }
    media = former
    hold.former = nil
    return [.agree(former)]
  }
}
