import Dispatch
import Glibc
import MediaCore
import RealTime
import Synchronization

/// Virtual time up to which one end of a simulated call has run its turns (iterations of the voice
/// loop).
///
/// **Thread safety:** one thread updates it, another one waits for it.
struct Progress: ~Copyable {
  private let nanoseconds = Atomic<Int64>(.min)

  /// Number of polls after which a waiting thread yields the processor.
  ///
  /// The other end needs only some microseconds for a turn.
  private static let looks = 1_000

  /// Notes that all turns before `instant` have been taken.
  func reach(_ instant: MonotonicInstant) {
    nanoseconds.store(instant.nanoseconds, ordering: .releasing)
  }

  /// Waits until all turns before `instant` have been taken.
  func wait(for instant: MonotonicInstant) {
    var looks = 0
    while nanoseconds.load(ordering: .acquiring) < instant.nanoseconds {
      looks += 1
      if looks % Self.looks == 0 { sched_yield() }
    }
  }
}

/// Event that one thread announces and another one waits for, ten times per simulated second.
///
/// A waiting thread spins before it sleeps, since a wake-up takes longer than a turn.
private final class Meeting: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)
  private let announced = Atomic<Int>(0)
  private let awaited = Atomic<Int>(0)

  private static let looks = 100_000

  func announce() {
    semaphore.signal()
    announced.add(1, ordering: .releasing)
  }

  func wait() {
    let mine = awaited.add(1, ordering: .relaxed).newValue
    for _ in 0..<Self.looks where announced.load(ordering: .acquiring) >= mine { break }
    semaphore.wait()
  }
}

/// Thread on which one end of a simulated call runs beside the other one.
///
/// **Life cycle:** the thread ends with the last reference.
///
/// **Thread safety:** one thread at a time.
final class PartyThread {
  // SAFETY: the party and the horizon belong to the thread between `orders` and `answers`, else to
  // the owner; of the other party it uses the progress alone.
  private final class Desk: @unchecked Sendable {
    let party: SimulatedParty
    let other: SimulatedParty
    let lead: Int64
    /// Time before which turns are to be taken; nil to end the thread.
    var horizon: MonotonicInstant?
    let orders = Meeting()
    let answers = Meeting()

    init(_ party: SimulatedParty, beside other: SimulatedParty, lead: Int64) {
      self.party = party
      self.other = other
      self.lead = lead
    }

    func work() {
      while true {
        orders.wait()
        guard let horizon else { return }
        party.run(before: horizon, beside: other.progress, lead)
        answers.announce()
      }
    }
  }

  private let desk: Desk
  private let thread: RealTimeThread

  /// Starts a thread for `party`; `runBoth` runs `other` on its caller's thread.
  ///
  /// `lead` is the least delay of a packet between the two, in nanoseconds. Throws if the thread
  /// cannot be created.
  init(_ party: SimulatedParty, beside other: SimulatedParty, lead: Int64) throws {
    let desk = Desk(party, beside: other, lead: lead)
    self.desk = desk
    thread = try RealTimeThread(name: "far", policy: .ordinary) { desk.work() }
  }

  deinit {
    desk.horizon = nil
    desk.orders.announce()
    thread.join()
  }

  /// Runs all turns of both ends before `instant`.
  func runBoth(before instant: MonotonicInstant) {
    let (party, other) = (desk.party, desk.other)
    party.progress.reach(party.nextTurn)
    other.progress.reach(other.nextTurn)
    desk.horizon = instant
    desk.orders.announce()
    other.run(before: instant, beside: party.progress, desk.lead)
    desk.answers.wait()
  }
}
