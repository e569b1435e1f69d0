public import Foundation

/// Asks the system for what the user wants in the app's own screens.
open class CXCallController: NSObject {
  /// Sees every call of the process.
  public let callObserver: CXCallObserver
  private let queue: DispatchQueue

  /// A controller whose completions run on a private serial queue.
  public override convenience init() {
    self.init(queue: DispatchQueue(label: "callkit.controller"))
  }

  /// A controller whose completions run on `queue`.
  public init(queue: DispatchQueue) {
    self.queue = queue
    callObserver = CXCallObserver()
    super.init()
  }

  /// Asks for a transaction: accepted (nil) and delivered to the provider's delegate, or refused as
  /// a whole with a `CXErrorCodeRequestTransactionError`.
  ///
  /// Never performs synchronously.
  open func request(
    _ transaction: CXTransaction,
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    CallSystem.shared.request(transaction, queue: queue, completion: completion)
  }

  /// Asks for a transaction; throws a `CXErrorCodeRequestTransactionError`.
  nonisolated(nonsending) open func request(_ transaction: CXTransaction) async throws {
    try await withCheckedThrowingContinuation { continuation in
      request(transaction) { error in
        continuation.resume(with: error.map { .failure($0) } ?? .success(()))
      }
    }
  }

  /// Asks for a transaction of the given actions.
  open func requestTransaction(
    with actions: [CXAction],
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    request(CXTransaction(actions: actions), completion: completion)
  }

  /// Asks for a transaction of one action.
  open func requestTransaction(
    with action: CXAction,
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    request(CXTransaction(action: action), completion: completion)
  }
}
