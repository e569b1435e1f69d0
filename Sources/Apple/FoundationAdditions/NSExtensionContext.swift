public import Foundation

/// The host of an app extension, from the extension's point of view.
///
/// Foundation has it on Apple's systems only.
open class NSExtensionContext: NSObject {
  /// Creates a context without a host.
  public override init() {
    super.init()
  }

  /// Ends the request without a result; does nothing unless overridden.
  open func cancelRequest(withError error: any Error) {}

  /// Completes the request; the handler receives true if the request expired, which is never the
  /// case here.
  open func completeRequest(
    returningItems items: [Any]?,
    completionHandler: ((Bool) -> Void)? = nil
  ) {
    completionHandler?(false)
  }
}

/// An app extension that is started by requests.
public protocol NSExtensionRequestHandling: NSObjectProtocol {
  /// Begins to handle a request.
  func beginRequest(with context: NSExtensionContext)
}
