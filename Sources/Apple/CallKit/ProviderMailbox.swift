import CallState
import Foundation
import Synchronization

/// Messages to a provider's delegate, in order for each call.
///
/// Messages wait while there is no delegate (R28), while the completion of a request that caused
/// them has not run (R19), and behind earlier ones about the same calls. Confined to the call
/// system's queue.
final class ProviderMailbox {
  typealias Message = @Sendable (CXProvider, any CXProviderDelegate) -> Void

  private struct Entry {
    let message: Message
    /// The calls that it is about.
    let calls: Set<CallID>
    /// The completion that has to run first; nil for none.
    var completion: Int?
  }

  let provider: CXProvider
  let id: ProviderID
  private weak var delegate: (any CXProviderDelegate)?
  private var hasBegun = false
  private var entries: [Entry] = []
  /// True once the mailbox is closed; also read on the delegate's queue.
  private let closed = Closed()
  /// Maximum number of messages that wait for a delegate; beyond it the oldest is dropped.
  private static let capacity = 1_000

  private final class Closed: Sendable {
    let isSet = Atomic<Bool>(false)
  }

  init(provider: CXProvider, id: ProviderID) {
    self.provider = provider
    self.id = id
  }

  var hasDelegate: Bool { delegate != nil }

  func setDelegate(_ delegate: (any CXProviderDelegate)?, queue: DispatchQueue?) {
    self.delegate = delegate
    provider.givenQueue.withLock { $0 = queue }
    if delegate != nil, !hasBegun {
      hasBegun = true
      let begin = Entry(message: { $1.providerDidBegin($0) }, calls: [])
      entries.insert(begin, at: 0)
    }
    flush()
  }

  /// Passes a message on, once an earlier one about the same calls has gone and the `completion`
  /// has run, for which `lift` is called.
  func post(
    _ message: @escaping Message,
    about calls: Set<CallID> = [],
    after completion: Int? = nil
  ) {
    guard !closed.isSet.load(ordering: .acquiring) else { return }
    entries.append(Entry(message: message, calls: calls, completion: completion))
    flush()
    if delegate == nil, entries.count > Self.capacity { entries.removeFirst() }
  }

  /// Notes that a completion has run.
  func lift(_ completion: Int) {
    for index in entries.indices where entries[index].completion == completion {
      entries[index].completion = nil
    }
    flush()
  }

  /// Discards all queued messages, and delivers none from now on.
  func close() {
    closed.isSet.store(true, ordering: .releasing)
    entries = []
  }

  // A completion that the app does not get round to holds up what it has asked for, and no more.
  private func flush() {
    guard let delegate else { return }
    let queue = provider.givenQueue.withLock { $0 } ?? .main
    var waiting: [Entry] = []
    var busy: Set<CallID> = []
    for entry in entries {
      guard entry.completion == nil, busy.isDisjoint(with: entry.calls) else {
        busy.formUnion(entry.calls)
        waiting.append(entry)
        continue
      }
      let crossing = UncheckedTransfer(value: (provider, delegate))
      queue.async { [closed] in
        guard !closed.isSet.load(ordering: .acquiring) else { return }
        entry.message(crossing.value.0, crossing.value.1)
      }
    }
    entries = waiting
  }
}
