public import Foundation

/// Something that a user wants of an app.
open class INIntent: NSObject {
  /// The intent's own name.
  open var identifier: String?
}

/// What an app answers to an intent.
open class INIntentResponse: NSObject {}
