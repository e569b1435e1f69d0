public import Foundation

/// Requests call actions on behalf of the app's own user interface.
open class CXCallController: NSObject {
  private let observer = CXCallObserver()
  private let queue: DispatchQueue

  /// Creates a controller whose completions run on a private serial queue.
  public override convenience init() {
    self.init(queue: DispatchQueue(label: "callkit.controller"))
  }

  /// Creates a controller whose completions run on `queue`.
  public init(queue: DispatchQueue) {
    self.queue = queue
    super.init()
  }

  /// Observer of all calls of the process; always the same object.
  open var callObserver: CXCallObserver { observer }

  /// Requests a transaction, which is accepted or refused as a whole.
  ///
  /// `completion` runs once: with nil, before the provider's delegate is asked to perform the
  /// actions, or with a `CXErrorCodeRequestTransactionError`. Nothing is performed synchronously.
  @preconcurrency
  open func request(
    _ transaction: CXTransaction,
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    CallSystem.shared.request(transaction, queue: queue, completion: completion)
  }

  /// Requests a transaction whose calls start with a provider of the caller's choice.
  package func request(_ transaction: CXTransaction, startingWith provider: CXProvider) async throws
  {
    try await withCheckedThrowingContinuation { continuation in
      CallSystem.shared.request(transaction, starting: provider, queue: queue) {
        continuation.resume(with: Result(failure: $0))
      }
    }
  }

  /// Requests a transaction; throws a `CXErrorCodeRequestTransactionError`.
  nonisolated(nonsending) open func request(_ transaction: CXTransaction) async throws {
    try await withCheckedThrowingContinuation { continuation in
      request(transaction) { continuation.resume(with: Result(failure: $0)) }
    }
  }

  /// Requests a transaction of the given actions.
  @preconcurrency
  open func requestTransaction(
    with actions: [CXAction],
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    request(CXTransaction(actions: actions), completion: completion)
  }

  /// Requests a transaction of the given actions; throws as `request` does.
  nonisolated(nonsending) open func requestTransaction(with actions: [CXAction]) async throws {
    try await request(CXTransaction(actions: actions))
  }

  /// Requests a transaction of one action.
  @preconcurrency
  open func requestTransaction(
    with action: CXAction,
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    request(CXTransaction(action: action), completion: completion)
  }

  /// Requests a transaction of one action; throws as `request` does.
  nonisolated(nonsending) open func requestTransaction(with action: CXAction) async throws {
    try await request(CXTransaction(action: action))
  }
}

extension Result<Void, any Error> {
  /// Creates a failure of the error, or a success if it is nil.
  init(failure: (any Error)?) {
    self = failure.map { .failure($0) } ?? .success(())
  }
}
