public import Foundation
import Logging

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
/// a call for a push is not killed. Without `XDG_RUNTIME_DIR`, when the app runs already, or when
/// it has another registry, there is no token, and a line in the log says why. Keep one registry as
/// long as the app runs.
///
/// **Threads:** set the delegate and the kinds once, on one thread; change them later on the
/// queue of the initializer, on which the delegate is called.
open class PKPushRegistry: NSObject {
  private let queue: DispatchQueue
  private let environment: [String: String]
  private var receiver: PushReceiver?
  /// Events that wait for a delegate, oldest first.
  private var waiting: [PushReceiver.Event] = []
  /// True if the delegate lacks the callback form that was called last.
  var isUnanswered = false
  private static let log = Logger(label: "org.sidetone.pushkit")

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

  /// The delegate, which receives tokens and pushes on the registry's queue; those that come before
  /// it is set are kept for it.
  open weak var delegate: (any PKPushRegistryDelegate)? {
    didSet {
      let reference = RegistryReference(self)
      queue.async { reference.registry?.deliverWaiting() }
    }
  }

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

  /// Maximum number of events that wait for a delegate; beyond it the oldest is dropped.
  private static let mostWaiting = 64

  private func deliver(_ event: PushReceiver.Event) {
    waiting = waiting.suffix(Self.mostWaiting - 1) + [event]
    deliverWaiting()
  }

  // In the order of their arrival, even if the delegate is set meanwhile.
  private func deliverWaiting() {
    while let delegate, !waiting.isEmpty {
      switch waiting.removeFirst() {
      case .token(let token):
        let credentials = PKPushCredentials(type: .voIP, token: token)
        delegate.pushRegistry(self, didUpdate: credentials, for: .voIP)
      case .push(let payload):
        deliver(PKPushPayload(type: .voIP, dictionaryPayload: payload.values), to: delegate)
      case .invalidated:
        delegate.pushRegistry(self, didInvalidatePushTokenFor: .voIP)
      }
    }
  }

  // The first form that the delegate has: its own begins at once, so the protocol's own one is
  // noticed before the next form is tried.
  private func deliver(_ payload: PKPushPayload, to delegate: any PKPushRegistryDelegate) {
    // SAFETY: all run on the registry's queue, up to the first suspension of the delegate's.
    nonisolated(unsafe) let (registry, app, push) = (self, delegate, payload)
    let metadata = PKVoIPPushMetadata()
    let forms: [() -> Void] = [
      {
        unsafe app.pushRegistry(
          registry,
          didReceiveIncomingVoIPPushWith: push,
          metadata: metadata,
          completion: {}
        )
      },
      {
        Task.immediate {
          unsafe await app.pushRegistry(
            registry,
            didReceiveIncomingVoIPPushWith: push,
            metadata: metadata
          )
        }
      },
      {
        unsafe app.pushRegistry(
          registry,
          didReceiveIncomingPushWith: push,
          for: .voIP,
          completion: {}
        )
      },
      {
        Task.immediate {
          unsafe await app.pushRegistry(registry, didReceiveIncomingPushWith: push, for: .voIP)
        }
      },
    ]
    for form in forms {
      isUnanswered = false
      form()
      if !isUnanswered { return }
    }
    Self.log.error("a push is lost: the delegate has no method that takes one")
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
  /// A push for a watch's complication, which never comes here.
  public static let complication = PKPushType(rawValue: "PKPushTypeComplication")
  /// A push for a file provider, which never comes here.
  public static let fileProvider = PKPushType(rawValue: "PKPushTypeFileProvider")
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

/// Demands of the system that come with a push.
public struct PKVoIPPushMetadata: Hashable, Sendable {
  /// True if the app has to report a call for the push: always false here, as nothing happens to
  /// an app that does not.
  public var mustReport: Bool { false }

  init() {}
}
