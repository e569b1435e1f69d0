package import MediaCore

/// Answers of further phones to an INVITE that one phone has answered (RFC 3261 section 13.2.2.4).
///
/// Each is acknowledged and its call ended, up to a limit: anybody who has read the INVITE can send
/// such answers.
package struct ForkedAnswers: Equatable, Sendable {
  /// Time in which further answers are handled, in seconds: 64 times T1.
  private static let seconds = 32
  private static let limit = 8

  private let sequence: UInt32
  private let end: MonotonicInstant
  private var tags: Set<String> = []

  /// Awaits further answers to the INVITE of CSeq `sequence`, which was answered at `now`.
  package init(to sequence: UInt32, at now: MonotonicInstant) {
    self.sequence = sequence
    end = now.advanced(by: .seconds(Self.seconds))
  }

  /// Returns true, once for each phone, if the call with the phone of this tag is to be ended.
  package mutating func take(_ tag: String, answering sequence: UInt32, at now: MonotonicInstant)
    -> Bool
  {
    guard sequence == self.sequence, now < end, tags.count < Self.limit else { return false }
    return tags.insert(tag).inserted
  }
}
