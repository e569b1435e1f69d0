public import Foundation

/// The app's side of the call system: reports facts, and has a delegate that performs actions.
open class CXProvider: NSObject {
  private let stored: CXProviderConfiguration

  /// A provider with the given configuration, which is copied.
  ///
  /// The newest one in a process counts.
  public init(configuration: CXProviderConfiguration) {
    stored = configuration.copy() as? CXProviderConfiguration ?? configuration
    super.init()
    CallSystem.shared.register(self, maximumCallGroups: stored.maximumCallGroups)
  }

  /// How calls look and how many there may be.
  open var configuration: CXProviderConfiguration { stored }

  /// Sets who performs actions, on `queue` or else the main queue.
  ///
  /// The delegate is held weakly.
  open func setDelegate(_ delegate: (any CXProviderDelegate)?, queue: DispatchQueue?) {
    CallSystem.shared.setDelegate(delegate, of: self, queue: queue)
  }

  /// Shows an incoming call.
  ///
  /// `completion` runs on the delegate's queue if one was given, else on a private one; its error
  /// is a `CXErrorCodeIncomingCallError`, and then the app drops the call.
  open func reportNewIncomingCall(
    with UUID: UUID,
    update: CXCallUpdate,
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    CallSystem.shared.reportIncoming(UUID, to: self, completion: completion)
  }

  /// Shows an incoming call; throws a `CXErrorCodeIncomingCallError`.
  nonisolated(nonsending) open func reportNewIncomingCall(
    with UUID: UUID,
    update: CXCallUpdate
  ) async throws {
    try await withCheckedThrowingContinuation { continuation in
      reportNewIncomingCall(with: UUID, update: update) { error in
        continuation.resume(with: error.map { .failure($0) } ?? .success(()))
      }
    }
  }

  /// Reports that a call ended, at `endedAt` or now.
  ///
  /// No action is sent.
  open func reportCall(with UUID: UUID, endedAt: Date?, reason: CXCallEndedReason) {
    CallSystem.shared.reportEnded(UUID)
  }

  /// Reports that an outgoing call found the far side, at `startedConnectingAt` or now.
  open func reportOutgoingCall(with UUID: UUID, startedConnectingAt: Date?) {
    CallSystem.shared.reportConnecting(UUID)
  }

  /// Reports that an outgoing call was taken, at `connectedAt` or now.
  open func reportOutgoingCall(with UUID: UUID, connectedAt: Date?) {
    CallSystem.shared.reportConnected(UUID)
  }

  /// Ends every call as failed and takes the provider out of use.
  open func invalidate() {
    CallSystem.shared.invalidate(self)
  }

  /// The accepted transactions that are not complete.
  open var pendingTransactions: [CXTransaction] { CallSystem.shared.pendingTransactions }

  /// The unanswered actions of a class on a call.
  open func pendingCallActions(
    of callActionClass: AnyClass,
    withCall callUUID: UUID
  ) -> [CXCallAction] {
    pendingTransactions.flatMap(\.actions).compactMap { $0 as? CXCallAction }.filter { action in
      action.isKind(of: callActionClass) && action.callUUID == callUUID && !action.isComplete
    }
  }
}
