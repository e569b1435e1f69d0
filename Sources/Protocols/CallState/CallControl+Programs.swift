/// Rules between the calls of several programs of one user: one is active at a time (R69), as
/// within one program.
extension CallControl {
  /// Holds every active call, or ends those that cannot be held, since another program's call is to
  /// be active (R70, R73).
  ///
  /// The session is inactive after 5 s at most: a call that is not held by then is ended (R77).
  package mutating func makeWayForOtherProgram(at now: Moment) {
    let resumed = Set(ledger.outstanding.filter { $0.kind == .setHeld(false) }.map(\.call))
    for call in calls where call.isActive || resumed.contains(call.id) {
      guard !pendingActions.contains(where: { Self.silences($0.kind, $0.call, call.id) })
      else { continue }
      guard call.details.supportsHolding else {
        deliverEnd(call.id, at: now)
        continue
      }
      heldForOtherPrograms.insert(call.id)
      deliver(
        [.init(call: call.id, provider: call.provider, kind: .setHeld(true))],
        origin: .system,
        at: now
      )
    }
    applyDue(at: now)
  }

  /// Resumes the latest call held for another program, whose call the user has ended (R75); if none
  /// is left, an earlier program may resume its own (`giveBack`).
  package mutating func takeBackFromOtherProgram(at now: Moment) {
    resumeLatestHeld(among: heldForOtherPrograms, at: now)
    applyDue(at: now)
  }
}
