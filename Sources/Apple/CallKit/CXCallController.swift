public import Foundation

/// Asks the system for what the user wants in the app's own screens.
open class CXCallController: NSObject {
  private let observer = CXCallObserver()
  private let queue: DispatchQueue

  /// A controller whose completions run on a private serial queue.
  public override convenience init() {
    self.init(queue: DispatchQueue(label: "callkit.controller"))
  }

  /// A controller whose completions run on `queue`.
  public init(queue: DispatchQueue) {
    self.queue = queue
    super.init()
  }

  /// Sees every call of the process; always the same object.
  open var callObserver: CXCallObserver { observer }

  /// Asks for a transaction: accepted (nil) and delivered to the provider's delegate, or refused as
  /// a whole with a `CXErrorCodeRequestTransactionError`.
  ///
  /// Never performs synchronously. The completion runs once, before the delegate is asked to
  /// perform.
  open func request(
    _ transaction: CXTransaction,
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    CallSystem.shared.request(transaction, queue: queue, completion: completion)
  }

  /// Asks for a transaction; throws a `CXErrorCodeRequestTransactionError`.
  nonisolated(nonsending) open func request(_ transaction: CXTransaction) async throws {
    try await withCheckedThrowingContinuation { continuation in
      request(transaction) { continuation.resume(with: Result(failure: $0)) }
    }
  }

  /// Asks for a transaction of the given actions.
  open func requestTransaction(
    with actions: [CXAction],
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    request(CXTransaction(actions: actions), completion: completion)
  }

  /// Asks for a transaction of the given actions; throws as `request` does.
  nonisolated(nonsending) open func requestTransaction(with actions: [CXAction]) async throws {
    try await request(CXTransaction(actions: actions))
  }

  /// Asks for a transaction of one action.
  open func requestTransaction(
    with action: CXAction,
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    request(CXTransaction(action: action), completion: completion)
  }

  /// Asks for a transaction of one action; throws as `request` does.
  nonisolated(nonsending) open func requestTransaction(with action: CXAction) async throws {
    try await request(CXTransaction(action: action))
  }
}

extension Result<Void, any Error> {
  /// A failure, or success if there is none.
  init(failure: (any Error)?) {
    self = failure.map { .failure($0) } ?? .success(())
  }
}
