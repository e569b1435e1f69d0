public import Foundation
public import FoundationAdditions

/// An intent that an app was asked to perform or has performed, and the app's answer.
open class INInteraction: NSObject {
  private let asked: INIntent
  private let answered: INIntentResponse?

  /// Creates an interaction of an intent and the app's response, nil if there is none.
  public init(intent: INIntent, response: INIntentResponse?) {
    asked = intent
    answered = response
    super.init()
  }

  /// The requested intent.
  open var intent: INIntent { asked }
  /// The app's response to the intent; nil if there is none.
  open var intentResponse: INIntentResponse? { answered }
  /// Direction of the call or message.
  open var direction = INInteractionDirection.unspecified
  /// Start and duration of the interaction; nil if unknown.
  open var dateInterval: DateInterval?
  /// Identifier that the app may set; a random UUID by default.
  open var identifier = UUID().uuidString
  /// Identifier shared by related interactions, set by the app.
  open var groupIdentifier: String?

  /// Offers the interaction to the system's suggestions.
  ///
  /// Differs from Apple's: there are no suggestions, so it is complete at once.
  open func donate(completion: ((any Error)?) -> Void = { _ in }) {
    completion(nil)
  }
}

/// Direction of a call or message.
public enum INInteractionDirection: Int, Sendable {
  /// Unspecified.
  case unspecified = 0
  /// Sent by this side.
  case outgoing = 1
  /// Received by this side.
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
