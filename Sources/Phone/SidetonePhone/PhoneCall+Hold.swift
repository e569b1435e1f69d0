import MediaCore

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
  }
}
