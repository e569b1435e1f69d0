public import Foundation

/// What the user was doing, or wants to do, as handed to an app: for calls, whom to call.
///
/// Foundation has it on Apple's systems only; here it carries what a start-call request needs.
open class NSUserActivity: NSObject {
  private let type: String

  /// An activity of the given type, for example `INStartCallIntent`.
  public init(activityType: String) {
    type = activityType
    super.init()
  }

  /// What kind of activity it is.
  open var activityType: String { type }
  /// What people call it.
  open var title: String?
  /// What the app keeps with it.
  open var userInfo: [AnyHashable: Any]?
  /// The page that shows the same.
  open var webpageURL: URL?

  /// The interaction that led to it, whose type the module `Intents` has.
  package var attachment: AnyObject?
}
