import MediaCore

/// Answers of other phones to an INVITE that has been answered (RFC 3261 section 13.2.2.4): each is
/// taken, and the call with it ended, but not without limit: anybody who has read the INVITE can
/// send them.
///
/// A value without I/O: time is an argument.
struct ForkedAnswers: Equatable, Sendable {
  /// 64 times T1: no phone answers later.
  private static let seconds = 32
  private static let limit = 8

  private let sequence: UInt32
  private let end: MonotonicInstant
  private var tags: Set<String> = []

  /// Of the INVITE with the given CSeq, which was answered at `now`.
  init(to sequence: UInt32, at now: MonotonicInstant) {
    self.sequence = sequence
    end = now.advanced(by: .seconds(Self.seconds))
  }

  /// True if the call with the phone of the given tag is to be ended, which is so once.
  mutating func take(_ tag: String, answering sequence: UInt32, at now: MonotonicInstant) -> Bool {
    guard sequence == self.sequence, now < end, tags.count < Self.limit else { return false }
    return tags.insert(tag).inserted
  }
}
