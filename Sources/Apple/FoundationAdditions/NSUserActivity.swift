public import Foundation

/// An activity of the user that is handed to an app, such as a request to call a person.
///
/// Foundation has it on Apple's systems only; here it carries what a start-call request needs.
open class NSUserActivity: NSObject {
  private let type: String

  /// Creates an activity of the given type, for example `INStartCallIntent`.
  public init(activityType: String) {
    type = activityType
    super.init()
  }

  /// Type of the activity.
  open var activityType: String { type }
  /// Title for the user.
  open var title: String?
  /// Values that the app attached.
  open var userInfo: [AnyHashable: Any]?
  /// Web page with the same content.
  open var webpageURL: URL?

  /// The interaction that led to the activity, an object of a type in the module `Intents`.
  package var attachment: AnyObject?
}
