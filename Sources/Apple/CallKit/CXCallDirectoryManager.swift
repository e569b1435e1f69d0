import CallStore
public import Foundation
import Logging
import Synchronization

/// Loads call directory extensions, and reports whether the user has enabled them.
///
/// Completions run on a private queue.
///
/// Differs from Apple's: the user enables an extension with `sidetone directory enable`; there are
/// no settings to open.
// SAFETY: the set of loading extensions is behind a mutex; the rest is immutable.
open class CXCallDirectoryManager: NSObject, @unchecked Sendable {
  /// The user's choice about an extension's entries.
  public enum EnabledStatus: Int, Sendable {
    /// There is no such extension, or its state is unknown.
    case unknown = 0
    /// The entries are ignored.
    case disabled = 1
    /// The entries are used.
    case enabled = 2
  }

  private static let shared = CXCallDirectoryManager()
  private let queue = DispatchQueue(label: "callkit.directory", attributes: .concurrent)
  private let loading = Mutex<Set<String>>([])

  /// The manager of this process.
  open class var sharedInstance: CXCallDirectoryManager { shared }

  /// Runs an extension and stores its entries, all or none.
  ///
  /// The error is a `CXErrorCodeCallDirectoryManagerError`, or the one with which the extension
  /// cancelled.
  @preconcurrency
  open func reloadExtension(
    withIdentifier identifier: String,
    completionHandler completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    queue.async { [self] in completion?(reload(identifier) { _ in }.map(Self.appError(for:))) }
  }

  /// Runs an extension and stores its entries, all or none; throws the errors that the other form
  /// reports.
  nonisolated(nonsending) open func reloadExtension(
    withIdentifier identifier: String
  ) async throws {
    try await withCheckedThrowingContinuation { continuation in
      reloadExtension(withIdentifier: identifier) {
        continuation.resume(with: Result(failure: $0))
      }
    }
  }

  /// Reports whether the user has enabled an extension; `unknown` comes with an error.
  @preconcurrency
  open func getEnabledStatusForExtension(
    withIdentifier identifier: String,
    completionHandler completion: @escaping @Sendable (EnabledStatus, (any Error)?) -> Void
  ) {
    queue.async { [self] in
      do {
        completion(try isEnabled(identifier) ? .enabled : .disabled, nil)
      } catch {
        completion(.unknown, Self.appError(for: error))
      }
    }
  }

  /// Returns whether the user has enabled an extension.
  nonisolated(nonsending) open func enabledStatusForExtension(
    withIdentifier identifier: String
  ) async throws -> EnabledStatus {
    try await withCheckedThrowingContinuation { continuation in
      getEnabledStatusForExtension(withIdentifier: identifier) { status, error in
        continuation.resume(with: error.map { .failure($0) } ?? .success(status))
      }
    }
  }

  /// Completes with `NSCocoaErrorDomain` 3328, since there are no settings to open.
  @preconcurrency
  open func openSettings(completionHandler completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    queue.async { completion?(Self.noSettings) }
  }

  /// Throws `NSCocoaErrorDomain` 3328, since there are no settings to open.
  nonisolated(nonsending) open func openSettings() async throws {
    throw Self.noSettings
  }

  private static var noSettings: NSError {
    NSError(
      domain: NSCocoaErrorDomain,
      code: 3_328,
      userInfo: [NSLocalizedDescriptionKey: "enable extensions with \"sidetone directory enable\""]
    )
  }

  // Apps know no error of the store's; its sentence is for the log.
  private static func appError(for error: any Error) -> any Error {
    guard let error = error as? CallStoreError else { return error }
    Logger(label: "org.sidetone.callkit").error("\(error.description)")
    return CXErrorCodeCallDirectoryManagerError(.unknown)
  }

  // MARK: Parts

  /// Extensions of this app and of this user.
  package static var installedExtensions: [(identifier: String, name: String)] {
    DirectoryExtension.all(dataFolder: CallStore.defaultFolder).map {
      ($0.identifier, $0.name ?? $0.identifier)
    }
  }

  private func find(_ identifier: String) throws -> DirectoryExtension {
    let all = DirectoryExtension.all(dataFolder: CallStore.defaultFolder)
    guard let found = all.first(where: { $0.identifier == identifier }) else {
      throw CXErrorCodeCallDirectoryManagerError(.noExtensionFound)
    }
    return found
  }

  private func isEnabled(_ identifier: String) throws -> Bool {
    _ = try find(identifier)
    let store = try CallStore(in: CallStore.defaultFolder)
    return try store.isExtensionEnabled(identifier) ?? false
  }

  /// Runs an extension, and blocks until it has ended.
  ///
  /// `progress` receives the number of entries so far, after each 100,000 and at the end. Returns
  /// the error, nil after a success.
  package func reload(
    _ identifier: String,
    progress: @escaping (Int) -> Void
  ) -> (any Error)? {
    guard loading.withLock({ $0.insert(identifier).inserted }) else {
      return CXErrorCodeCallDirectoryManagerError(.currentlyLoading)
    }
    defer { _ = loading.withLock { $0.remove(identifier) } }
    do {
      let source = try find(identifier)
      let store = try CallStore(in: CallStore.defaultFolder)
      guard try store.isExtensionEnabled(identifier) ?? false else {
        return CXErrorCodeCallDirectoryManagerError(.extensionDisabled)
      }
      return DirectoryLoader(store: store, source: source, progress: progress).run()
    } catch {
      return error
    }
  }
}
