import DesktopServices
import Synchronization

/// A notification server with the property `Inhibited`, as Plasma's.
package final class QuietServer: Sendable {
  private static let name = "org.freedesktop.Notifications"
  private static let path = "/org/freedesktop/Notifications"
  private static let properties = "org.freedesktop.DBus.Properties"

  private let bus: BusConnection
  private let isQuiet: Mutex<Bool?>
  private let questions = AsyncStream<Void>.makeStream()

  /// Questions for the property.
  package var asked: AsyncStream<Void> { questions.stream }

  /// A server whose property is `isQuiet`; nil for one without it.
  package init?(address: String, isQuiet: Bool?) {
    guard let bus = BusConnection(address: address) else { return nil }
    self.bus = bus
    self.isQuiet = Mutex(isQuiet)
    let isServing = bus.serve(Self.name, interface: Self.properties) { [weak self] message in
      guard let self, message.arguments == [.string(Self.name), .string("Inhibited")] else {
        return nil
      }
      defer { questions.continuation.yield() }
      return self.isQuiet.withLock { $0 }.map { [.variant(.bool($0))] }
    }
    guard isServing else { return nil }
  }

  /// Changes the property; the signal has the value if `isTold`, else it only names the property.
  package func set(_ isQuiet: Bool, isTold: Bool) {
    self.isQuiet.withLock { $0 = isQuiet }
    let arguments: [BusValue] = [
      .string(Self.name), .dictionary(isTold ? ["Inhibited": .bool(isQuiet)] : [:]),
      .strings(isTold ? [] : ["Inhibited"]),
    ]
    bus.emit(
      path: Self.path,
      interface: Self.properties,
      "PropertiesChanged",
      arguments
    )
  }
}
