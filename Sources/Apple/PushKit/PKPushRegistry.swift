public import Foundation

/// Where an app asks for pushes that announce calls.
///
/// Differs from Apple's: there is no push service on Linux. The types are here so that apps
/// compile; the delegate is never called, and there is never a token. A program that wants to be
/// called keeps its signalling registered, for example as a systemd user unit.
open class PKPushRegistry: NSObject {
  private let queue: DispatchQueue?

  /// A registry whose delegate would be called on `queue`, or else the main queue.
  public init(queue: DispatchQueue?) {
    self.queue = queue
    super.init()
  }

  /// Receives pushes, if there ever were any.
  open weak var delegate: (any PKPushRegistryDelegate)?
  /// The kinds of push that the app wants.
  open var desiredPushTypes: Set<PKPushType>?

  /// The token to send pushes with: none.
  open func pushToken(for type: PKPushType) -> Data? { nil }
}

/// A kind of push.
public struct PKPushType: RawRepresentable, Hashable, Sendable {
  /// Apple's constant.
  public let rawValue: String

  /// A kind of Apple's name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Announces a call.
  public static let voIP = PKPushType(rawValue: "PKPushTypeVoIP")
}

/// What came with a push.
open class PKPushPayload: NSObject {
  private let kind: PKPushType
  private let content: [AnyHashable: Any]

  init(type: PKPushType, dictionaryPayload: [AnyHashable: Any]) {
    kind = type
    content = dictionaryPayload
    super.init()
  }

  /// What kind of push it is.
  open var type: PKPushType { kind }
  /// What the sender put in.
  open var dictionaryPayload: [AnyHashable: Any] { content }
}

/// The token to send pushes with.
open class PKPushCredentials: NSObject {
  private let kind: PKPushType
  private let data: Data

  init(type: PKPushType, token: Data) {
    kind = type
    data = token
    super.init()
  }

  /// For what kind of push it is.
  open var type: PKPushType { kind }
  /// The token.
  open var token: Data { data }
}

/// Receives tokens and pushes.
public protocol PKPushRegistryDelegate: NSObjectProtocol {
  /// There is a new token.
  func pushRegistry(
    _ registry: PKPushRegistry,
    didUpdate pushCredentials: PKPushCredentials,
    for type: PKPushType
  )
  /// A push came.
  func pushRegistry(
    _ registry: PKPushRegistry,
    didReceiveIncomingPushWith payload: PKPushPayload,
    for type: PKPushType,
    completion: @escaping () -> Void
  )
  /// A push came: the old form.
  func pushRegistry(
    _ registry: PKPushRegistry,
    didReceiveIncomingPushWith payload: PKPushPayload,
    for type: PKPushType
  )
  /// The token is not valid any more.
  func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType)
}

extension PKPushRegistryDelegate {
  /// Completes at once.
  public func pushRegistry(
    _ registry: PKPushRegistry,
    didReceiveIncomingPushWith payload: PKPushPayload,
    for type: PKPushType,
    completion: @escaping () -> Void
  ) {
    completion()
  }
  /// Does nothing.
  public func pushRegistry(
    _ registry: PKPushRegistry,
    didReceiveIncomingPushWith payload: PKPushPayload,
    for type: PKPushType
  ) {}
  /// Does nothing.
  public func pushRegistry(
    _ registry: PKPushRegistry,
    didInvalidatePushTokenFor type: PKPushType
  ) {}
}
