import CallStore
public import Foundation
public import FoundationAdditions

/// One load of a call directory extension, as the extension sees it.
///
/// Numbers are added in ascending order. `isIncremental` must be read before the first entry to get
/// a load of changes; otherwise the load replaces everything, and removing an entry breaks it.
///
/// **Thread safety:** one thread at a time.
open class CXCallDirectoryExtensionContext: NSExtensionContext {
  private let channel: DirectoryChannel

  init(channel: DirectoryChannel) {
    self.channel = channel
    super.init()
  }

  /// Receives the error when the load is refused.
  open weak var delegate: (any CXCallDirectoryExtensionContextDelegate)?

  /// True if only changes since the last load are wanted.
  open var isIncremental: Bool {
    channel.send(.readsIncremental)
    return channel.mayBeIncremental
  }

  /// Blocks a number, greater than the one before.
  open func addBlockingEntry(withNextSequentialPhoneNumber phoneNumber: CXCallDirectoryPhoneNumber)
  {
    channel.send(.block(phoneNumber))
  }

  /// Blocks a number no more; for incremental loads.
  open func removeBlockingEntry(withPhoneNumber phoneNumber: CXCallDirectoryPhoneNumber) {
    channel.send(.unblock(phoneNumber))
  }

  /// Blocks none of the extension's numbers; for incremental loads.
  open func removeAllBlockingEntries() {
    channel.send(.unblockAll)
  }

  /// Gives a number, not less than the one before, a label.
  open func addIdentificationEntry(
    withNextSequentialPhoneNumber phoneNumber: CXCallDirectoryPhoneNumber,
    label: String
  ) {
    channel.send(.identify(phoneNumber, label))
  }

  /// Takes every label off a number; for incremental loads.
  open func removeIdentificationEntry(withPhoneNumber phoneNumber: CXCallDirectoryPhoneNumber) {
    channel.send(.unidentify(phoneNumber))
  }

  /// Takes every label of the extension off; for incremental loads.
  open func removeAllIdentificationEntries() {
    channel.send(.unidentifyAll)
  }

  /// Ends the load: every entry counts from now on, or none if a rule was broken.
  ///
  /// The handler, if any, gets true if the system has given the load up.
  open func completeRequest(completionHandler completion: ((Bool) -> Void)? = nil) {
    let fault = channel.complete()
    if let fault { delegate?.requestFailed(for: self, withError: fault) }
    completion?(fault != nil)
    channel.end()
  }

  /// Ends the load; true if the system has given it up.
  @discardableResult
  nonisolated(nonsending) open func completeRequest() async -> Bool {
    await withCheckedContinuation { continuation in
      completeRequest { continuation.resume(returning: $0) }
    }
  }

  /// Gives the load up: the old entries stay.
  open override func cancelRequest(withError error: any Error) {
    channel.cancel(error as NSError)
    delegate?.requestFailed(for: self, withError: error)
    channel.end()
  }
}

/// Receives the error when a load fails.
public protocol CXCallDirectoryExtensionContextDelegate: NSObjectProtocol {
  /// The load was refused, or given up by the extension itself; the old entries stay.
  func requestFailed(
    for extensionContext: CXCallDirectoryExtensionContext,
    withError error: any Error
  )
}
