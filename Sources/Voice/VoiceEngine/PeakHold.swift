/// A peak hold: the highest level since the last reading.
struct PeakHold {
  private var untold: Float = 0
  private var sinceTelling: Float = 0

  /// Notes a level, 0 to 1.
  @_noAllocation @_noLocks
  mutating func note(_ level: Float) { sinceTelling = max(sinceTelling, level) }

  /// The level to report now; `isRead` says whether the last report was read.
  @_noAllocation @_noLocks
  mutating func take(isRead: Bool) -> Float {
    untold = isRead ? sinceTelling : max(untold, sinceTelling)
    sinceTelling = 0
    return untold
  }
}
