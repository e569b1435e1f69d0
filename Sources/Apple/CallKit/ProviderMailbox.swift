import CallState
import Foundation
import Synchronization

/// Messages to a provider's delegate, in order.
///
/// Messages wait while there is no delegate (R28), and while the completion of a request that
/// caused them has not run (R19). Confined to the call system's queue.
final class ProviderMailbox {
  typealias Message = @Sendable (CXProvider, any CXProviderDelegate) -> Void

  private enum Entry {
    case message(Message)
    case completion(Int)
  }

  let provider: CXProvider
  let id: ProviderID
  /// The queue that was given with the delegate; nil if none was.
  private(set) var givenQueue: DispatchQueue?
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
    givenQueue = queue
    if delegate != nil, !hasBegun {
      hasBegun = true
      entries.insert(.message { $1.providerDidBegin($0) }, at: 0)
    }
    flush()
  }

  func post(_ message: @escaping Message) {
    guard !closed.isSet.load(ordering: .acquiring) else { return }
    entries.append(.message(message))
    flush()
    if delegate == nil, entries.count > Self.capacity { entries.removeFirst() }
  }

  /// Keeps messages posted from now on until `lift` is called with the same number.
  func hold(until completion: Int) {
    entries.append(.completion(completion))
  }

  func lift(_ completion: Int) {
    entries.removeAll { if case .completion(completion) = $0 { true } else { false } }
    flush()
  }

  /// Discards all queued messages, and delivers none from now on.
  func close() {
    closed.isSet.store(true, ordering: .releasing)
    entries = []
  }

  private func flush() {
    while let delegate, case .message(let message)? = entries.first {
      entries.removeFirst()
      let crossing = UncheckedTransfer(value: (provider, delegate))
      (givenQueue ?? .main).async { [closed] in
        guard !closed.isSet.load(ordering: .acquiring) else { return }
        message(crossing.value.0, crossing.value.1)
      }
    }
  }
}
