/// Set of the sequence numbers seen among the last 64.
struct RecentSequences: Sendable {
  static var count: Int64 { @_noAllocation @_noLocks get { 64 } }

  private var newest: Int64 = -1
  private var bits: UInt64 = 0

  @_noAllocation @_noLocks
  init() {}

  @_noAllocation @_noLocks
  func contains(_ sequence: Int64) -> Bool {
    let age = newest - sequence
    return age >= 0 && age < 64 && bits & (1 &<< UInt64(age)) != 0
  }

  @_noAllocation @_noLocks
  mutating func insert(_ sequence: Int64) {
    let step = sequence - newest
    if step > 0 {
      bits = step < 64 ? bits &<< UInt64(step) | 1 : 1
      newest = sequence
    } else if step > -64 {
      bits |= 1 &<< UInt64(-step)
    }
  }

  @_noAllocation @_noLocks
  mutating func reset() {
    newest = -1
    bits = 0
  }
}
