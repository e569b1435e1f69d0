public import Foundation
public import FoundationAdditions

/// A request of the user to an app.
open class INIntent: NSObject {
  /// Name that the app gave to the intent.
  open var identifier: String?
  /// Words by which the user may ask for the intent; nothing here listens for them.
  open var suggestedInvocationPhrase: String?
}

/// An app's answer to an intent.
open class INIntentResponse: NSObject {
  /// Activity for the app that goes on with the intent; nil for none.
  open var userActivity: NSUserActivity?
}
