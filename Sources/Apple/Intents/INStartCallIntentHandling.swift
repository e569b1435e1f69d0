public import Foundation
public import FoundationAdditions

/// An object of an app that handles requests for calls.
///
/// Differs from Apple's: it exists so that apps compile. There is no assistant, so its methods are
/// never called; requests of the desktop arrive as activities with an interaction. Methods that
/// resolve other parts of a request than its contacts are missing.
public protocol INStartCallIntentHandling: NSObjectProtocol {
  /// Hands the call over to the app.
  @preconcurrency
  func handle(
    intent: INStartCallIntent,
    completion: @escaping @Sendable (INStartCallIntentResponse) -> Void
  )

  /// Confirms that the call can be made.
  @preconcurrency
  func confirm(
    intent: INStartCallIntent,
    completion: @escaping @Sendable (INStartCallIntentResponse) -> Void
  )

  /// Finds the people to call.
  @preconcurrency
  func resolveContacts(
    for intent: INStartCallIntent,
    with completion: @escaping @Sendable ([INStartCallContactResolutionResult]) -> Void
  )
}

extension INStartCallIntentHandling {
  /// Completes with `continueInApp`.
  @preconcurrency
  public func handle(
    intent: INStartCallIntent,
    completion: @escaping @Sendable (INStartCallIntentResponse) -> Void
  ) {
    completion(INStartCallIntentResponse(code: .continueInApp, userActivity: nil))
  }

  /// Completes with `ready`.
  @preconcurrency
  public func confirm(
    intent: INStartCallIntent,
    completion: @escaping @Sendable (INStartCallIntentResponse) -> Void
  ) {
    completion(INStartCallIntentResponse(code: .ready, userActivity: nil))
  }

  /// Accepts the people as they are.
  @preconcurrency
  public func resolveContacts(
    for intent: INStartCallIntent,
    with completion: @escaping @Sendable ([INStartCallContactResolutionResult]) -> Void
  ) {
    completion((intent.contacts ?? []).map { .success(with: $0) })
  }
}

/// An app's answer to a request for a call.
open class INStartCallIntentResponse: INIntentResponse {
  private let status: INStartCallIntentResponseCode

  /// Creates an answer; `userActivity` is for the app that goes on with the call.
  public init(code: INStartCallIntentResponseCode, userActivity: NSUserActivity?) {
    status = code
    super.init()
    self.userActivity = userActivity
  }

  /// The app's ability to make the call.
  open var code: INStartCallIntentResponseCode { status }
}

/// An app's ability to make a call.
public enum INStartCallIntentResponseCode: Int, Sendable {
  /// Unspecified.
  case unspecified = 0
  /// Ready to make it.
  case ready = 1
  /// The app goes on with it.
  case continueInApp = 2
  /// The user has to confirm it.
  case userConfirmationRequired = 3
  /// Not possible.
  case failure = 4
  /// The user must open the app to place the call.
  case failureRequiringAppLaunch = 5
  /// The service is not available.
  case failureCallingServiceNotAvailable = 6
  /// The app cannot call this person.
  case failureContactNotSupportedByApp = 7
  /// The network is switched off.
  case failureAirplaneModeEnabled = 8
  /// The call cannot be handed over.
  case failureUnableToHandOff = 9
  /// The app has to be set up first.
  case failureAppConfigurationRequired = 10
  /// Another call is active.
  case failureCallInProgress = 11
  /// Another call rings.
  case failureCallRinging = 12
  /// A code of Apple's without a meaning of its own.
  case responseCode = 13
}

/// The result of resolving a part of a request.
open class INIntentResolutionResult: NSObject {
  /// Asks the user for the missing part.
  open class func needsValue() -> Self { Self() }
  /// Goes on without the part.
  open class func notRequired() -> Self { Self() }
  /// Refuses the part.
  open class func unsupported() -> Self { Self() }

  /// Creates a result without a value.
  public required override init() { super.init() }
}

/// The result of resolving a person in a request.
open class INPersonResolutionResult: INIntentResolutionResult {
  /// Takes this person.
  open class func success(with resolvedPerson: INPerson) -> Self { Self() }
  /// Asks the user to choose among these people.
  open class func disambiguation(with peopleToDisambiguate: [INPerson]) -> Self { Self() }
  /// Asks the user whether this person is meant.
  open class func confirmationRequired(with personToConfirm: INPerson?) -> Self { Self() }
}

/// The result of resolving a person to call.
open class INStartCallContactResolutionResult: INPersonResolutionResult {
  /// Creates the result for a contact from the result for a person.
  public convenience init(personResolutionResult: INPersonResolutionResult) { self.init() }
}
