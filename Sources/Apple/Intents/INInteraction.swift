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

  /// State of the app's work on the intent: always `unspecified`.
  open var intentHandlingStatus: INIntentHandlingStatus { .unspecified }

  /// Offers the interaction to the system's suggestions.
  ///
  /// Differs from Apple's: there are no suggestions, so donations and deletions complete at once,
  /// without effect.
  @preconcurrency
  open func donate(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    completion?(nil)
  }

  /// Offers the interaction to the system's suggestions, of which there are none here.
  nonisolated(nonsending) open func donate() async throws {}

  /// Withdraws all donated interactions.
  @preconcurrency
  open class func deleteAll(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    completion?(nil)
  }

  /// Withdraws the donated interactions with these identifiers.
  @preconcurrency
  open class func delete(
    with identifiers: [String],
    completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    completion?(nil)
  }

  /// Withdraws the donated interactions of a group.
  @preconcurrency
  open class func delete(
    with groupIdentifier: String,
    completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    completion?(nil)
  }
}

/// State of an app's work on an intent.
public enum INIntentHandlingStatus: Int, Sendable {
  /// Unspecified.
  case unspecified = 0
  /// Not begun.
  case ready = 1
  /// In progress.
  case inProgress = 2
  /// Done.
  case success = 3
  /// Failed.
  case failure = 4
  /// Goes on in the app.
  case deferredToApplication = 5
  /// Waits for the user's confirmation.
  case userConfirmationRequired = 6
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

  /// Creates an activity for an interaction, as the system does when the user chooses a recent
  /// call.
  package convenience init(interaction: INInteraction) {
    self.init(activityType: "\(Swift.type(of: interaction.intent))")
    attachment = interaction
  }
}
