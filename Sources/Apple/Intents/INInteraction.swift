public import Foundation
public import FoundationAdditions

/// What an app is asked to do, or did.
open class INInteraction: NSObject {
  private let asked: INIntent
  private let answered: INIntentResponse?

  /// An interaction over an intent.
  public init(intent: INIntent, response: INIntentResponse?) {
    asked = intent
    answered = response
    super.init()
  }

  /// What is asked.
  open var intent: INIntent { asked }
  /// What was answered.
  open var intentResponse: INIntentResponse? { answered }
  /// Which way a call or message went.
  open var direction = INInteractionDirection.unspecified
  /// When it was, and how long.
  open var dateInterval: DateInterval?
  /// The app's own name for it.
  open var identifier = UUID().uuidString
  /// The app's own name for those that belong together.
  open var groupIdentifier: String?

  /// Offers the interaction to the system's suggestions.
  ///
  /// Differs from Apple's: there are no suggestions, so it is complete at once.
  open func donate(completion: ((any Error)?) -> Void = { _ in }) {
    completion(nil)
  }
}

/// Which way a call or message went.
public enum INInteractionDirection: Int, Sendable {
  /// Not specified.
  case unspecified = 0
  /// From this side.
  case outgoing = 1
  /// To this side.
  case incoming = 2
}

extension NSUserActivity {
  /// The interaction that led to the activity.
  public var interaction: INInteraction? {
    attachment as? INInteraction
  }

  /// An activity over an interaction, as the system makes it when the user chooses a recent call.
  package convenience init(interaction: INInteraction) {
    self.init(activityType: "\(Swift.type(of: interaction.intent))")
    attachment = interaction
  }
}
