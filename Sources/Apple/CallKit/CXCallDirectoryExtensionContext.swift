import CallStore
public import Foundation
public import FoundationAdditions

/// One load of a call directory extension, from the extension's point of view.
///
/// Numbers are added in ascending order. To load changes only, `isIncremental` must be read before
/// the first entry; otherwise the load replaces all entries, and fails if one is removed.
///
/// **Thread safety:** one thread at a time.
open class CXCallDirectoryExtensionContext: NSExtensionContext {
  private let channel: DirectoryChannel

  init(channel: DirectoryChannel) {
    self.channel = channel
    super.init()
  }

  /// Receives the error if the load fails.
  open weak var delegate: (any CXCallDirectoryExtensionContextDelegate)?

  /// True if only changes since the last load are wanted.
  open var isIncremental: Bool {
    channel.send(.readsIncremental)
    return channel.mayBeIncremental
  }

  /// Blocks a number, which must be greater than the one before.
  open func addBlockingEntry(withNextSequentialPhoneNumber phoneNumber: CXCallDirectoryPhoneNumber)
  {
    channel.send(.block(phoneNumber))
  }

  /// Unblocks a number; for incremental loads.
  open func removeBlockingEntry(withPhoneNumber phoneNumber: CXCallDirectoryPhoneNumber) {
    channel.send(.unblock(phoneNumber))
  }

  /// Unblocks all numbers of the extension; for incremental loads.
  open func removeAllBlockingEntries() {
    channel.send(.unblockAll)
  }

  /// Labels a number, which must not be less than the one before.
  open func addIdentificationEntry(
    withNextSequentialPhoneNumber phoneNumber: CXCallDirectoryPhoneNumber,
    label: String
  ) {
    channel.send(.identify(phoneNumber, label))
  }

  /// Removes all labels of a number; for incremental loads.
  open func removeIdentificationEntry(withPhoneNumber phoneNumber: CXCallDirectoryPhoneNumber) {
    channel.send(.unidentify(phoneNumber))
  }

  /// Removes all labels of the extension; for incremental loads.
  open func removeAllIdentificationEntries() {
    channel.send(.unidentifyAll)
  }

  /// Ends the load and then the process: all entries take effect, or none if a rule was broken.
  ///
  /// The handler, if any, receives true if the load failed, before the process exits.
  open func completeRequest(completionHandler completion: ((Bool) -> Void)? = nil) {
    let fault = channel.complete()
    if let fault { delegate?.requestFailed(for: self, withError: fault) }
    completion?(fault != nil)
    channel.end()
  }

  /// Ends the load and then the process; returns true if the load failed.
  ///
  /// The process may exit before this returns.
  @discardableResult
  nonisolated(nonsending) open func completeRequest() async -> Bool {
    await withCheckedContinuation { continuation in
      completeRequest { continuation.resume(returning: $0) }
    }
  }

  /// Cancels the load, so that the old entries stay, and ends the process.
  open override func cancelRequest(withError error: any Error) {
    channel.cancel(error as NSError)
    delegate?.requestFailed(for: self, withError: error)
    channel.end()
  }
}

/// Receives the error if a load fails.
public protocol CXCallDirectoryExtensionContextDelegate: NSObjectProtocol {
  /// Reports that the load was refused, or cancelled by the extension itself; the old entries stay.
  func requestFailed(
    for extensionContext: CXCallDirectoryExtensionContext,
    withError error: any Error
  )
}
