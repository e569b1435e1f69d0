import DesktopServices
import Foundation
import Synchronization

/// The desktop's side: a notification server of the test's own on a real bus.
package final class NotificationServer: Sendable {
  package static let name = "org.freedesktop.Notifications"
  package static let path = "/org/freedesktop/Notifications"

  /// Requests of programs, in order.
  ///
  /// They are `show NUMBER SUMMARY: BODY [BUTTON ...]` and `close NUMBER`; `icon BYTES` comes
  /// before a `show` with an icon.
  package let log: AsyncStream<String>
  /// The name of the app that asked last.
  package var app: String { lastApp.withLock { $0 } }
  private let lastApp = Mutex("")
  private let continuation: AsyncStream<String>.Continuation
  private let bus: BusConnection
  private let newest = Mutex<UInt32>(0)

  package init?(address: String) {
    (log, continuation) = AsyncStream.makeStream()
    guard let bus = BusConnection(address: address) else { return nil }
    self.bus = bus
    let isServing = bus.serve(Self.name, interface: Self.name) { [weak self] in self?.answer($0) }
    guard isServing else { return nil }
  }

  private func answer(_ message: BusMessage) -> [BusValue]? {
    switch message.member {
    case "Notify":
      guard message.arguments.count == 8, case .uint32(let former) = message.arguments[1],
        case .string(let app) = message.arguments[0],
        case .string(let summary) = message.arguments[3],
        case .string(let body) = message.arguments[4],
        case .strings(let buttons) = message.arguments[5],
        case .dictionary(let hints) = message.arguments[6]
      else { return nil }
      lastApp.withLock { $0 = app }
      let number = newest.withLock { newest in
        if former != 0 { return former }
        newest += 1
        return newest
      }
      let labels = stride(from: 1, to: buttons.count, by: 2).map { buttons[$0] }
      let category = hints["category"] ?? .other
      if case .string(let path)? = hints["image-path"] {
        let icon = URL(string: path).flatMap { FileManager.default.contents(atPath: $0.path) }
        continuation.yield("icon \(Array(icon ?? Data()))")
      }
      continuation.yield("show \(number) \(summary): \(body) \(labels) \(category)")
      return [.uint32(number)]
    case "CloseNotification":
      continuation.yield("close \(message.arguments)")
      return []
    default:
      return nil
    }
  }

  package func press(_ key: String, on number: UInt32) {
    let arguments: [BusValue] = [.uint32(number), .string(key)]
    bus.emit(path: Self.path, interface: Self.name, "ActionInvoked", arguments)
  }

  package func dismiss(_ number: UInt32) {
    let arguments: [BusValue] = [.uint32(number), .uint32(2)]
    bus.emit(path: Self.path, interface: Self.name, "NotificationClosed", arguments)
  }
}
