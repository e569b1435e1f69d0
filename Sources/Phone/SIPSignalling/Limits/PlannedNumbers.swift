import Glibc
import Synchronization

/// Numbers that libre gets instead of random ones for the next dialog, so that a repeated INVITE
/// keeps the identifiers of the first one (RFC 3261 section 8.1.3.5).
///
/// A value.
struct PlannedNumbers: Equatable, Sendable {
  var sequence: UInt16?
  /// The thread that gets these numbers; others get random ones.
  private let thread = UInt(pthread_self())
  /// The tag, then the Call-ID, the order in which libre 1.1 draws them; in another order the
  /// dialog would have a new Call-ID.
  var names: [UInt64] = []

  /// Plans nothing.
  init() {}

  /// Plans the identifiers of a response's dialog, with the next CSeq; nil if they are not of
  /// libre's form.
  init?(callID: String, tag: String, after sequence: UInt32) {
    guard callID.utf8.count == 16, tag.utf8.count == 16, let name = UInt64(callID, radix: 16),
      let tag = UInt64(tag, radix: 16), let next = UInt16(exactly: UInt64(sequence) + 1)
    else { return nil }
    self.sequence = next
    names = [tag, name]
  }

  private var isForCaller: Bool { thread == UInt(pthread_self()) }

  mutating func takeSequence() -> UInt16? { isForCaller ? sequence.take() : nil }

  mutating func takeName() -> UInt64? {
    isForCaller && !names.isEmpty ? names.removeFirst() : nil
  }
}

private let planned = Mutex(PlannedNumbers())

/// Runs `body`, which begins a dialog with the planned numbers.
func planning<Result>(_ numbers: PlannedNumbers?, _ body: () -> Result) -> Result {
  planned.withLock { $0 = numbers ?? PlannedNumbers() }
  defer { planned.withLock { $0 = PlannedNumbers() } }
  return body()
}

/// Replaces libre's function: returns a planned number, else a random one.
@c(rand_u16)
package func drawSequence() -> UInt16 {
  planned.withLock { $0.takeSequence() } ?? .random(in: 0...UInt16.max)
}

/// Replaces libre's function: returns a planned number, else a random one.
@c(rand_u64)
package func drawName() -> UInt64 {
  planned.withLock { $0.takeName() } ?? .random(in: 0...UInt64.max)
}
