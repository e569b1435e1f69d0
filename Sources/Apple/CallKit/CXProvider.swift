public import Foundation
import Synchronization

/// The app's side of the call system: reports facts, and has a delegate that performs actions.
///
/// A provider that is not invalidated stays in use although the app has released it. Of several in
/// one process each gets the actions on its own calls, and a start goes to the newest that has a
/// delegate.
///
/// **Thread safety:** every member may be used from any thread.
open class CXProvider: NSObject {
  private let stored: Mutex<UncheckedTransfer<CXProviderConfiguration>>

  /// A provider with the given configuration, which is copied.
  public init(configuration: CXProviderConfiguration) {
    stored = Mutex(UncheckedTransfer(value: configuration.duplicate()))
    super.init()
    CallSystem.shared.register(self)
  }

  /// How calls look and how many there may be; copied when set.
  ///
  /// A change, also one made through this property, counts for the next request, and for the list
  /// of recent calls when a call ends.
  open var configuration: CXProviderConfiguration {
    get { stored.withLock { $0 }.value }
    set {
      let copy = UncheckedTransfer(value: newValue.duplicate())
      stored.withLock { $0 = copy }
    }
  }

  /// Sets who performs actions, on `queue` or else the main queue.
  ///
  /// The delegate is held weakly. What comes while there is none waits for it.
  open func setDelegate(_ delegate: (any CXProviderDelegate)?, queue: DispatchQueue?) {
    CallSystem.shared.setDelegate(delegate, of: self, queue: queue)
  }

  // MARK: Reports

  /// Shows an incoming call.
  ///
  /// `completion` runs on the delegate's queue if one was given, else on a private one; its error
  /// is a `CXErrorCodeIncomingCallError`, and then the app drops the call.
  open func reportNewIncomingCall(
    with UUID: UUID,
    update: CXCallUpdate,
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    CallSystem.shared.reportIncoming(UUID, update, of: self, completion: completion)
  }

  /// Shows an incoming call; throws a `CXErrorCodeIncomingCallError`.
  nonisolated(nonsending) open func reportNewIncomingCall(
    with UUID: UUID,
    update: CXCallUpdate
  ) async throws {
    try await withCheckedThrowingContinuation { continuation in
      reportNewIncomingCall(with: UUID, update: update) {
        continuation.resume(with: Result(failure: $0))
      }
    }
  }

  /// Reports what changed about a call: only what `update` sets.
  open func reportCall(with UUID: UUID, updated update: CXCallUpdate) {
    CallSystem.shared.reportUpdated(UUID, update, of: self)
  }

  /// Reports that a call ended, at `dateEnded` or now.
  ///
  /// No action is sent.
  open func reportCall(
    with UUID: UUID,
    endedAt dateEnded: Date?,
    reason endedReason: CXCallEndedReason
  ) {
    CallSystem.shared.reportEnded(UUID, of: self, at: dateEnded, reason: endedReason)
  }

  /// Reports that an outgoing call found the far side, at `dateStartedConnecting` or now.
  open func reportOutgoingCall(
    with UUID: UUID,
    startedConnectingAt dateStartedConnecting: Date?
  ) {
    CallSystem.shared.reportConnecting(UUID, of: self, at: dateStartedConnecting)
  }

  /// Reports that an outgoing call was taken, at `dateConnected` or now.
  open func reportOutgoingCall(with UUID: UUID, connectedAt dateConnected: Date?) {
    CallSystem.shared.reportConnected(UUID, of: self, at: dateConnected)
  }

  /// Reports a push as a call, from a notification service.
  ///
  /// Differs from Apple's: there is no notification service here, so it always completes, before
  /// returning, with `missingNotificationFilteringEntitlement`, as it does there in any other
  /// process.
  open class func reportNewIncomingVoIPPushPayload(
    _ dictionaryPayload: [AnyHashable: Any],
    completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    completion?(
      CXErrorCodeNotificationServiceExtensionError(.missingNotificationFilteringEntitlement)
    )
  }

  /// Reports a push as a call, from a notification service; always throws here.
  nonisolated(nonsending) open class func reportNewIncomingVoIPPushPayload(
    _ dictionaryPayload: [AnyHashable: Any]
  ) async throws {
    throw CXErrorCodeNotificationServiceExtensionError(.missingNotificationFilteringEntitlement)
  }

  /// What the call screen shows for a call: the name that the app gave, the call directory's label,
  /// or the handle; nil if the call does not live.
  package func displayName(of UUID: UUID) -> String? {
    CallSystem.shared.displayName(of: UUID)
  }

  // MARK: Life

  /// Ends every call as failed and takes the provider out of use.
  ///
  /// Its delegate receives nothing any more, not even of the session's deactivation.
  open func invalidate() {
    CallSystem.shared.invalidate(self)
  }

  /// The accepted transactions that are not complete.
  open var pendingTransactions: [CXTransaction] {
    CallSystem.shared.pendingTransactions(of: self)
  }

  /// The unanswered actions of a class, or of a class derived from it, on a call.
  open func pendingCallActions(
    of callActionClass: AnyClass,
    withCall callUUID: UUID
  ) -> [CXCallAction] {
    CallSystem.shared.pendingActions(of: self).compactMap { $0 as? CXCallAction }.filter { action in
      action.isKind(of: callActionClass) && action.callUUID == callUUID && !action.isComplete
    }
  }
}
