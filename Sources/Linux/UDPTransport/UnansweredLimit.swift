package import MediaCore
import Synchronization

/// How much is sent to an address before anything has come from there.
///
/// A call's description names the address, and may name a stranger's. So only a few datagrams go
/// there on trust: most of them at once, so that a call that is in order begins without a gap, and
/// the last ones with growing pauses, so that it also begins after an outage.
///
/// A value without I/O: time is an argument.
package struct UnansweredLimit: BitwiseCopyable, Sendable {
  /// The datagrams in all.
  package static var datagrams: Int { @_noAllocation @_noLocks get { 25 } }
  private static var burst: Int { @_noAllocation @_noLocks get { 20 } }
  private static var firstPause: Int64 { @_noAllocation @_noLocks get { 1_000_000_000 } }

  private var count = 0
  private var next = MonotonicInstant(nanoseconds: 0)
  private var pause: Int64 = 0
  /// True once the address has answered.
  package private(set) var isLifted: Bool

  /// An address to which nothing was sent; `isLifted` if it is known to answer.
  package init(isLifted: Bool) { self.isLifted = isLifted }

  /// Notes that something has come from the address.
  @_noAllocation @_noLocks
  package mutating func lift() { isLifted = true }

  /// True if one more datagram may be sent now.
  @_noAllocation @_noLocks
  package mutating func allows(at now: MonotonicInstant) -> Bool {
    if isLifted { return true }
    guard count < Self.datagrams, count < Self.burst || now >= next else { return false }
    count += 1
    guard count >= Self.burst else { return true }
    pause = pause == 0 ? Self.firstPause : pause * 2
    next = now.advanced(byNanoseconds: pause)
    return true
  }
}
