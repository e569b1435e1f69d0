public import Foundation
import Synchronization

/// The app's interface to the call system: it reports events, and its delegate performs actions.
///
/// A provider stays in use until it is invalidated, even if the app has released it. With several
/// in one process, each receives the actions on its own calls, and a start action goes to the
/// newest that has a delegate.
/// **Thread safety:** every member may be used from any thread.
open class CXProvider: NSObject {
  private let stored: Mutex<UncheckedTransfer<CXProviderConfiguration>>
  /// The queue that was given with the delegate; nil if none was.
  let givenQueue = Mutex<DispatchQueue?>(nil)

  /// Creates a provider with the given configuration, which is copied.
  public init(configuration: CXProviderConfiguration) {
    stored = Mutex(UncheckedTransfer(value: configuration.duplicate()))
    super.init()
    CallSystem.shared.register(self)
  }

  /// Appearance of calls and limits on their number; copied when set.
  ///
  /// A change, also one of the returned object, takes effect at the next request, and for the list
  /// of recent calls when a call ends.
  open var configuration: CXProviderConfiguration {
    get { stored.withLock { $0 }.value }
    set {
      let copy = UncheckedTransfer(value: newValue.duplicate())
      stored.withLock { $0 = copy }
    }
  }

  /// Sets the delegate that performs actions, on `queue` or, if nil, on the main queue.
  ///
  /// The delegate is held weakly. Messages wait while there is none.
  open func setDelegate(_ delegate: (any CXProviderDelegate)?, queue: DispatchQueue?) {
    CallSystem.shared.setDelegate(delegate, of: self, queue: queue)
  }

  // MARK: Reports

  /// Reports an incoming call to the system, which shows it to the user.
  ///
  /// `completion` runs on the delegate's queue if one was given, else on a private one; its error
  /// is a `CXErrorCodeIncomingCallError`, and then the app drops the call.
  @preconcurrency
  open func reportNewIncomingCall(
    with UUID: UUID,
    update: CXCallUpdate,
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    CallSystem.shared.reportIncoming(UUID, update, of: self, completion: completion)
  }

  /// Reports an incoming call to the system; throws a `CXErrorCodeIncomingCallError`.
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

  /// Reports changed properties of a call: those that `update` sets.
  open func reportCall(with UUID: UUID, updated update: CXCallUpdate) {
    CallSystem.shared.reportUpdated(UUID, update, of: self)
  }

  /// Reports that a call ended, at `dateEnded` or, if nil, now.
  ///
  /// No action is sent.
  open func reportCall(
    with UUID: UUID,
    endedAt dateEnded: Date?,
    reason endedReason: CXCallEndedReason
  ) {
    CallSystem.shared.reportEnded(UUID, of: self, at: dateEnded, reason: endedReason)
  }

  /// Reports that an outgoing call started connecting, at `dateStartedConnecting` or, if nil, now.
  open func reportOutgoingCall(
    with UUID: UUID,
    startedConnectingAt dateStartedConnecting: Date?
  ) {
    CallSystem.shared.reportConnecting(UUID, of: self, at: dateStartedConnecting)
  }

  /// Reports that an outgoing call was answered, at `dateConnected` or, if nil, now.
  open func reportOutgoingCall(with UUID: UUID, connectedAt dateConnected: Date?) {
    CallSystem.shared.reportConnected(UUID, of: self, at: dateConnected)
  }

  /// Reports a push as a call, from a notification service.
  ///
  /// Differs from Apple's: there is no notification service here, so it always completes, before
  /// returning, with `missingNotificationFilteringEntitlement`, as Apple's does in any other
  /// process.
  @preconcurrency
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

  /// Returns the name of a call on the call screen; nil if there is no such call.
  ///
  /// The name that the app gave, else the call directory's label, else the handle.
  package func displayName(of UUID: UUID) -> String? {
    CallSystem.shared.displayName(of: UUID)
  }

  // MARK: Life

  /// Ends the provider's calls as failed and invalidates the provider.
  ///
  /// Its delegate receives nothing any more, not even the session's deactivation.
  open func invalidate() {
    CallSystem.shared.invalidate(self)
  }

  /// Accepted transactions that are not complete.
  open var pendingTransactions: [CXTransaction] {
    CallSystem.shared.pendingTransactions(of: self)
  }

  /// Returns the unanswered actions of a class, or of a class derived from it, on a call.
  open func pendingCallActions(
    of callActionClass: AnyClass,
    withCall callUUID: UUID
  ) -> [CXCallAction] {
    CallSystem.shared.pendingActions(of: self).compactMap { $0 as? CXCallAction }.filter { action in
      action.isKind(of: callActionClass) && action.callUUID == callUUID && !action.isComplete
    }
  }
}
