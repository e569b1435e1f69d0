import CallStore
public import Foundation
import Synchronization

/// Loads call directory extensions, and answers whether the user has enabled them.
///
/// Completions run on a private queue.
///
/// Differs from Apple's: the user enables an extension with `sidetone directory enable`; there are
/// no settings to open.
// SAFETY: the set of loading extensions is behind a mutex; the rest is immutable.
open class CXCallDirectoryManager: NSObject, @unchecked Sendable {
  /// Whether the user wants an extension's entries.
  public enum EnabledStatus: Int, Sendable {
    /// There is no such extension, or its state is not known.
    case unknown = 0
    /// They do not count.
    case disabled = 1
    /// They count.
    case enabled = 2
  }

  private static let shared = CXCallDirectoryManager()
  private let queue = DispatchQueue(label: "callkit.directory", attributes: .concurrent)
  private let loading = Mutex<Set<String>>([])

  /// The manager of this process.
  open class var sharedInstance: CXCallDirectoryManager { shared }

  /// Runs an extension and takes its entries over, all or none.
  ///
  /// The error is a `CXErrorCodeCallDirectoryManagerError`, or the one that the extension gave.
  open func reloadExtension(
    withIdentifier identifier: String,
    completionHandler completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    queue.async { [self] in completion?(reload(identifier) { _ in }) }
  }

  /// Runs an extension and takes its entries over, all or none; throws what `reloadExtension`
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

  /// Tells whether the user has enabled an extension; `unknown` comes with an error.
  open func getEnabledStatusForExtension(
    withIdentifier identifier: String,
    completionHandler completion: @escaping @Sendable (EnabledStatus, (any Error)?) -> Void
  ) {
    queue.async { [self] in
      do {
        completion(try isEnabled(identifier) ? .enabled : .disabled, nil)
      } catch {
        completion(.unknown, error)
      }
    }
  }

  /// Tells whether the user has enabled an extension.
  nonisolated(nonsending) open func enabledStatusForExtension(
    withIdentifier identifier: String
  ) async throws -> EnabledStatus {
    try await withCheckedThrowingContinuation { continuation in
      getEnabledStatusForExtension(withIdentifier: identifier) { status, error in
        continuation.resume(with: error.map { .failure($0) } ?? .success(status))
      }
    }
  }

  /// Opens the settings, of which there are none: completes with `NSCocoaErrorDomain` 3328.
  open func openSettings(completionHandler completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    queue.async { completion?(Self.noSettings) }
  }

  /// Opens the settings, of which there are none.
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

  // MARK: Parts

  /// The extensions of this app and of this user.
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

  /// Blocks until the extension has ended; `progress` gets the number of entries so far, now and
  /// then.
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
