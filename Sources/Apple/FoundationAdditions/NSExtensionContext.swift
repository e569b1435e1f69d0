public import Foundation

/// The host of an app extension, as the extension sees it.
///
/// Foundation has it on Apple's systems only.
open class NSExtensionContext: NSObject {
  /// A context without a host.
  public override init() {
    super.init()
  }

  /// Ends the request without a result.
  open func cancelRequest(withError error: any Error) {}

  /// Ends the request; the handler gets whether the host has gone on without the extension.
  open func completeRequest(
    returningItems items: [Any]?,
    completionHandler: ((Bool) -> Void)? = nil
  ) {
    completionHandler?(false)
  }
}

/// An app extension that is started by requests.
public protocol NSExtensionRequestHandling: NSObjectProtocol {
  /// A request has come.
  func beginRequest(with context: NSExtensionContext)
}
