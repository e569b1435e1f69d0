/// A peak hold: the highest level since the last reading.
struct PeakHold {
  private var unread: Float = 0
  private var sinceTelling: Float = 0

  /// Notes a level, 0 to 1.
  @_noAllocation @_noLocks
  mutating func note(_ level: Float) { sinceTelling = max(sinceTelling, level) }

  /// Returns the highest level, 0 to 1, since the last report that was read; `isRead` is true
  /// if the newest report was read.
  @_noAllocation @_noLocks
  mutating func take(isRead: Bool) -> Float {
    unread = isRead ? sinceTelling : max(unread, sinceTelling)
    sinceTelling = 0
    return unread
  }
}
