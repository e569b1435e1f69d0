public import Foundation

/// Provides an app with a push token, and with the pushes that announce calls.
///
/// Set the delegate, then ``desiredPushTypes``. With ``PKPushType/voIP`` in it, the app gets a
/// token and serves a socket of its user, `push/TOPIC.voip.sock` in `XDG_RUNTIME_DIR`. The topic is
/// the bundle identifier, or else the program's name. Another program of the same user, such as one
/// that is connected to a company's server, sends a push as a line of JSON with the token and a
/// payload of up to 5,120 bytes. A line answers it as Apple's service would:
///
/// ```
/// {"token": "9f86d081...", "payload": {"handle": "sip:alice@example.org"}}
/// {"status":200}
/// ```
///
/// A systemd socket unit with `ListenStream=%t/push/TOPIC.voip.sock` starts the app when a push
/// comes. The push waits until the app has asked for its pushes.
///
/// Differs from Apple's: no service beyond this machine carries pushes. An app that does not report
/// a call for a push is not killed. Without `XDG_RUNTIME_DIR`, or when the app runs already, there
/// is no token, and a line in the log says why.
///
/// **Threads:** set the delegate and the kinds once, on one thread; change them later on the
/// queue of the initializer, on which the delegate is called.
open class PKPushRegistry: NSObject {
  private let queue: DispatchQueue
  private let environment: [String: String]
  private var receiver: PushReceiver?

  /// Creates a registry whose delegate is called on `queue`, the main queue if nil.
  public convenience init(queue: DispatchQueue?) {
    self.init(queue: queue, environment: ProcessInfo.processInfo.environment)
  }

  /// Creates a registry whose folders are taken from `environment`.
  package init(queue: DispatchQueue?, environment: [String: String]) {
    self.queue = queue ?? .main
    self.environment = environment
    super.init()
  }

  deinit { receiver?.close() }

  /// Receives tokens and pushes.
  open weak var delegate: (any PKPushRegistryDelegate)?

  /// Kinds of push that the app wants.
  ///
  /// Only ``PKPushType/voIP`` is ever delivered.
  open var desiredPushTypes: Set<PKPushType>? {
    didSet { update(wantsCalls: desiredPushTypes?.contains(.voIP) ?? false) }
  }

  /// Token that senders of pushes must give, of 32 bytes; nil if the kind is not delivered.
  ///
  /// It stays the same from one start of the app to the next, until the kind is no longer desired.
  open func pushToken(for type: PKPushType) -> Data? {
    type == .voIP ? receiver?.token : nil
  }

  private func update(wantsCalls: Bool) {
    if wantsCalls, receiver == nil {
      let reference = RegistryReference(self)
      receiver = PushReceiver(environment: environment, queue: queue) { event in
        reference.registry?.deliver(event)
      }
    } else if !wantsCalls, let old = receiver {
      receiver = nil
      old.forgetToken()
      old.close()
      let reference = RegistryReference(self)
      queue.async { reference.registry?.deliver(.invalidated) }
    }
  }

  private func deliver(_ event: PushReceiver.Event) {
    guard let delegate else { return }
    switch event {
    case .token(let token):
      let credentials = PKPushCredentials(type: .voIP, token: token)
      delegate.pushRegistry(self, didUpdate: credentials, for: .voIP)
    case .push(let payload):
      delegate.pushRegistry(
        self,
        didReceiveIncomingPushWith: PKPushPayload(type: .voIP, dictionaryPayload: payload.values),
        for: .voIP,
        completion: {}
      )
    case .invalidated:
      delegate.pushRegistry(self, didInvalidatePushTokenFor: .voIP)
    }
  }
}

/// SAFETY: the registry is touched on its own queue alone, where the delegate is called.
private final class RegistryReference: @unchecked Sendable {
  private(set) weak var registry: PKPushRegistry?

  init(_ registry: PKPushRegistry) { self.registry = registry }
}

/// A kind of push.
public struct PKPushType: RawRepresentable, Hashable, Sendable {
  /// Apple's constant.
  public let rawValue: String

  /// Creates a kind from Apple's constant.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// A push that announces a call.
  public static let voIP = PKPushType(rawValue: "PKPushTypeVoIP")
}

/// Content of a push.
open class PKPushPayload: NSObject {
  private let kind: PKPushType
  private let content: [AnyHashable: Any]

  init(type: PKPushType, dictionaryPayload: [AnyHashable: Any]) {
    kind = type
    content = dictionaryPayload
    super.init()
  }

  /// Kind of the push.
  open var type: PKPushType { kind }
  /// Content as the sender wrote it.
  open var dictionaryPayload: [AnyHashable: Any] { content }
}

/// Token that senders of pushes must give.
open class PKPushCredentials: NSObject {
  private let kind: PKPushType
  private let data: Data

  init(type: PKPushType, token: Data) {
    kind = type
    data = token
    super.init()
  }

  /// Kind of push that the token is for.
  open var type: PKPushType { kind }
  /// The token.
  open var token: Data { data }
}

/// Receives tokens and pushes.
public protocol PKPushRegistryDelegate: NSObjectProtocol {
  /// Tells the delegate that there is a new token.
  func pushRegistry(
    _ registry: PKPushRegistry,
    didUpdate pushCredentials: PKPushCredentials,
    for type: PKPushType
  )
  /// Tells the delegate that a push arrived.
  func pushRegistry(
    _ registry: PKPushRegistry,
    didReceiveIncomingPushWith payload: PKPushPayload,
    for type: PKPushType,
    completion: @escaping () -> Void
  )
  /// Tells the delegate that a push arrived: the old form.
  func pushRegistry(
    _ registry: PKPushRegistry,
    didReceiveIncomingPushWith payload: PKPushPayload,
    for type: PKPushType
  )
  /// Tells the delegate that the token is no longer valid.
  func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType)
}

extension PKPushRegistryDelegate {
  /// Calls the old form, then `completion`.
  public func pushRegistry(
    _ registry: PKPushRegistry,
    didReceiveIncomingPushWith payload: PKPushPayload,
    for type: PKPushType,
    completion: @escaping () -> Void
  ) {
    pushRegistry(registry, didReceiveIncomingPushWith: payload, for: type)
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
