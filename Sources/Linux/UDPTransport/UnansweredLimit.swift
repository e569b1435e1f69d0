/// Limit to the datagrams sent on trust: to addresses that a call's description names and that have
/// not answered.
///
/// They may be a stranger's. So a call has one budget for all of them, whatever its descriptions
/// name one after the other: 20 datagrams at once, 50 ms to 1.2 s of voice, and one more every 6 s,
/// so that a call also begins after an outage. A call whose far side is silent ends after 30 s, and
/// has sent 25 by then. Those to an address that answers afterwards do not count: a server may move
/// the voice from host to host of its own.
///
/// A rule without state (the generic cell rate algorithm, ITU-T I.371); time is an argument.
enum UnansweredLimit {
  private static var pause: Int64 { @_noAllocation @_noLocks get { 6_000_000_000 } }
  private static var burst: Int64 { @_noAllocation @_noLocks get { 20 } }

  /// Puts datagrams back into the budget, since their address has answered.
  ///
  /// Returns the `turn` for the next call of `take`.
  @_noAllocation @_noLocks
  static func refund(_ turn: Int64, _ datagrams: Int64) -> Int64 { turn - datagrams * pause }

  /// Takes one datagram out of the budget.
  ///
  /// - Parameters:
  ///   - turn: the value that this returned last, in nanoseconds; 0 at first.
  ///   - now: the time in nanoseconds.
  /// - Returns: the `turn` for the next call; nil if nothing may be sent now.
  @_noAllocation @_noLocks
  static func take(_ turn: Int64, at now: Int64) -> Int64? {
    guard now >= turn - (burst - 1) * pause else { return nil }
    return max(now, turn) + pause
  }
}
