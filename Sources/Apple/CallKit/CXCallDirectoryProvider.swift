public import Foundation
public import FoundationAdditions

/// A telephone number in a call directory: country code and national digits as one integer.
public typealias CXCallDirectoryPhoneNumber = Int64

/// The greatest number that a call directory accepts.
public let CXCallDirectoryPhoneNumberMax: CXCallDirectoryPhoneNumber = .max - 1

/// A call directory extension: a list of numbers to block, and of labels for callers.
///
/// It runs only to load its data, never for a call. An app subclasses it and overrides
/// `beginRequest`.
///
/// Differs from Apple's: an extension is a program of its own whose main file calls
/// `CallDirectoryHandler().main()`; a manifest (`Extensions/NAME.json` beside the app's program, or
/// in the user's data folder) names it.
open class CXCallDirectoryProvider: NSObject, NSExtensionRequestHandling {
  /// Creates a provider for one request.
  public override init() {
    super.init()
  }

  /// Begins a request: an override adds entries and completes it; by default it is cancelled.
  open func beginRequest(with context: CXCallDirectoryExtensionContext) {
    context.cancelRequest(withError: CXErrorCodeCallDirectoryManagerError(.unknown))
  }

  /// Begins a request; cancels it unless `context` is the call system's.
  open func beginRequest(with context: NSExtensionContext) {
    guard let context = context as? CXCallDirectoryExtensionContext else {
      context.cancelRequest(withError: CXErrorCodeCallDirectoryManagerError(.unknown))
      return
    }
    beginRequest(with: context)
  }

  /// Serves the one request for which the system started this program, and exits.
  public func main() -> Never {
    guard let channel = DirectoryChannel() else {
      // There may be no standard error to write to.
      let text = "this program is a call directory extension; the call system starts it\n"
      try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
      exit(2)
    }
    beginRequest(with: CXCallDirectoryExtensionContext(channel: channel))
    // The request may be completed on another thread.
    channel.waitForTheEnd()
  }
}
