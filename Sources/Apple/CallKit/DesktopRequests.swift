import CallState
import DesktopServices
public import FoundationAdditions
public import Foundation
import Intents
import Synchronization

/// Requests of the user from outside the app: to call back, from the notification of a missed call,
/// and to open links with the app.
///
/// Takes the place of `UIApplicationDelegate`. **Thread safety:** any thread; both handlers run on
/// the main queue.
public enum DesktopRequests {
  private struct Receiver: Sendable {
    let open: @MainActor @Sendable (URL) -> Void
    let resume: @MainActor @Sendable (NSUserActivity) -> Void
    var application: DesktopApplication?
  }

  private static let receiver = Mutex<Receiver?>(nil)

  /// Delivers requests to the app from now on; a second call replaces the handlers.
  ///
  /// - Parameters:
  ///   - applicationID: the name of the app's desktop entry, such as `org.example.MonkeyCall`;
  ///     links come once its entry says `DBusActivatable=true` (Desktop Entry Specification). Nil
  ///     for an app without one.
  ///   - open: opens a link of the app's own, as `application(_:open:options:)` does.
  ///   - resume: calls a person, as `application(_:continue:restorationHandler:)` does: an activity
  ///     whose interaction has an `INStartCallIntent`. Links with `sip:`, `sips:` and `tel:` come
  ///     this way too.
  /// - Returns: false if another program has that name, or there is no bus; requests to call back
  ///   are delivered anyway.
  @discardableResult
  public static func receive(
    as applicationID: String? = nil,
    open: @escaping @MainActor @Sendable (URL) -> Void,
    continue resume: @escaping @MainActor @Sendable (NSUserActivity) -> Void
  ) -> Bool {
    let former = receiver.withLock { receiver in
      defer { receiver = Receiver(open: open, resume: resume, application: nil) }
      return receiver?.application
    }
    former?.close()
    guard let applicationID else { return true }
    // Links come as soon as it has the name.
    let application = DesktopApplication(name: applicationID) { link in
      if let url = URL(string: link) { Self.open(url) }
    }
    receiver.withLock { $0?.application = application }
    return application != nil
  }

  /// True once the app handles requests to call back.
  static var isReceived: Bool { receiver.withLock { $0 != nil } }

  private static func open(_ url: URL) {
    guard let receiver = receiver.withLock({ $0 }) else { return }
    switch url.scheme?.lowercased() {
    case "sip", "sips":
      call(CallHandle(kind: .generic, value: url.absoluteString))
    case "tel":
      // RFC 3966; people also write `tel://`.
      let number = url.absoluteString.dropFirst("tel:".count).drop { $0 == "/" }
      let decoded = number.removingPercentEncoding ?? ""
      let isPlain =
        !decoded.isEmpty
        && !decoded.unicodeScalars.contains {
          $0.properties.generalCategory == .control
        }
      call(CallHandle(kind: .phoneNumber, value: isPlain ? decoded : String(number)))
    default:
      DispatchQueue.main.async { receiver.open(url) }
    }
  }

  /// Asks the app to return a missed call: to its handle, by the caller's name, with video if it
  /// had any.
  @Sendable static func callBack(_ details: CallDetails) {
    guard let handle = details.remoteHandle else { return }
    call(handle, name: details.callerName, hasVideo: details.hasVideo)
  }

  /// Asks the app to call a handle.
  private static func call(_ handle: CallHandle, name: String? = nil, hasVideo: Bool = false) {
    guard let receiver = receiver.withLock({ $0 }) else { return }
    let type: INPersonHandleType =
      switch handle.kind {
      case .generic: .unknown
      case .phoneNumber: .phoneNumber
      case .emailAddress: .emailAddress
      }
    DispatchQueue.main.async {
      let person = INPerson(
        personHandle: INPersonHandle(value: handle.value, type: type),
        nameComponents: nil,
        displayName: name,
        image: nil,
        contactIdentifier: nil,
        customIdentifier: nil
      )
      let intent = INStartCallIntent(
        contacts: [person],
        callCapability: hasVideo ? .videoCall : .audioCall
      )
      receiver.resume(
        NSUserActivity(interaction: INInteraction(intent: intent, response: nil))
      )
    }
  }
}
