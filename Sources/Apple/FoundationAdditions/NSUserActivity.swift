public import Foundation

/// Activity type of a web page that is to be opened.
public let NSUserActivityTypeBrowsingWeb = "NSUserActivityTypeBrowsingWeb"

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
  /// Keys of `userInfo` that are needed to restore the activity.
  open var requiredUserInfoKeys: Set<String>?
  /// Words by which the activity may be found.
  open var keywords: Set<String> = []
  /// Name by which the activity may be removed.
  open var persistentIdentifier: String?
  /// Time after which the activity is of no use.
  open var expirationDate: Date?
  /// True if `userInfo` is to be brought up to date.
  open var needsSave = false
  /// True if the activity can continue on another device; like all eligibility, without effect
  /// here.
  open var isEligibleForHandoff = true
  /// True if the user may search for the activity.
  open var isEligibleForSearch = false
  /// True if everybody may search for the activity.
  open var isEligibleForPublicIndexing = false
  /// True if the activity may be suggested.
  open var isEligibleForPrediction = false

  /// Adds values to `userInfo`.
  open func addUserInfoEntries(from other: [AnyHashable: Any]) {
    userInfo = (userInfo ?? [:]).merging(other) { $1 }
  }

  /// Makes this the user's current activity; without effect here.
  open func becomeCurrent() {}
  /// Ends this as the user's current activity; without effect here.
  open func resignCurrent() {}
  /// Ends the activity; without effect here.
  open func invalidate() {}

  /// The interaction that led to the activity, an object of a type in the module `Intents`.
  package var attachment: AnyObject?
}
