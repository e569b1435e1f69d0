import MediaCore

/// By how much packets overtake one another: until when one that is missing may still come.
struct ReorderingTracker: ~Copyable {
  /// After so long the longest time that was seen counts half.
  private static var halfLife: Int64 { 10_000_000_000 }

  /// The newest gaps in the order of arrival: packets `first` to `last` were missing when a later
  /// one came.
  private var gaps = FixedArray<Gap>(repeating: Gap(first: 0, last: -1, opened: 0), count: 16)
  private var next = 0
  private var longest: Int64 = 0
  private var halved: Int64 = 0

  struct Gap: BitwiseCopyable, Sendable {
    var first: Int64
    var last: Int64
    var opened: Int64

    @_noAllocation @_noLocks
    init(first: Int64, last: Int64, opened: Int64) {
      self.first = first
      self.last = last
      self.opened = opened
    }
  }

  private let mechanisms: PlayoutMechanisms

  init(_ mechanisms: PlayoutMechanisms = PlayoutMechanisms()) { self.mechanisms = mechanisms }

  /// Notes that `sequence` came when `newest` was the newest so far.
  @_noAllocation @_noLocks
  mutating func note(_ sequence: Int64, after newest: Int64, at arrival: MonotonicInstant) {
    let now = arrival.nanoseconds
    if sequence > newest + 1 {
      gaps[next] = Gap(first: newest + 1, last: sequence - 1, opened: now)
      next = (next + 1) % gaps.count
    } else if sequence < newest, let opened = opening(of: sequence) {
      longest = max(remembered(at: now), now - opened)
      halved = now
    }
  }

  /// Whether `sequence`, which is missing, will hardly come any more at `instant`.
  @_noAllocation @_noLocks
  func isLost(_ sequence: Int64, at instant: MonotonicInstant) -> Bool {
    guard mechanisms.reordering, longest > 0, let opened = opening(of: sequence) else {
      return true
    }
    return instant.nanoseconds - opened >= remembered(at: instant.nanoseconds)
  }

  /// Forgets the numbers, not how packets behave.
  @_noAllocation @_noLocks
  mutating func reset() {
    for index in 0..<gaps.count { gaps[index].last = -1 }
  }

  @_noAllocation @_noLocks
  private func opening(of sequence: Int64) -> Int64? {
    for index in 0..<gaps.count where gaps[index].first <= sequence && sequence <= gaps[index].last
    {
      return gaps[index].opened
    }
    return nil
  }

  @_noAllocation @_noLocks
  private func remembered(at now: Int64) -> Int64 {
    let halvings = (now - halved) / Self.halfLife
    return halvings < 40 ? longest &>> max(0, halvings) : 0
  }
}
