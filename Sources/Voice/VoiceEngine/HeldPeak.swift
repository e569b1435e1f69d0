/// The highest level of what nobody has been told yet.
struct HeldPeak {
  private var untold: Float = 0
  private var sinceTelling: Float = 0

  /// Notes a level, 0 to 1.
  @_noAllocation @_noLocks
  mutating func note(_ level: Float) { sinceTelling = max(sinceTelling, level) }

  /// The level to tell now; `isRead` says whether somebody has heard what was told last.
  @_noAllocation @_noLocks
  mutating func take(isRead: Bool) -> Float {
    untold = isRead ? sinceTelling : max(untold, sinceTelling)
    sinceTelling = 0
    return untold
  }
}
