import Dispatch
import Synchronization

/// The desktop's Do Not Disturb state, from the notification server's `Inhibited` property.
///
/// Plasma's server has that property; without it, notifications count as allowed.
///
/// **Thread safety:** any thread; `isOn` returns the last known value and never waits for the
/// bus.
package final class DesktopQuiet: Sendable {
  private static let service = "org.freedesktop.Notifications"
  private static let path = "/org/freedesktop/Notifications"
  private static let property = "Inhibited"

  private let desktop: LastingBus
  private let queue = DispatchQueue(label: "desktop.quiet")
  private let isInhibited = Atomic(false)

  /// The desktop of the bus at `address`, by default the user's.
  package init(address: String? = nil) {
    desktop = LastingBus(address: address)
    desktop.whenNew { [weak self] in self?.follow($0) }
    // To search for a bus that has gone is enough: it is followed as a new one.
    desktop.whenBack { _ in }
  }

  /// Begins to follow the notification server; returns at once.
  package func start() { queue.async { [self] in _ = desktop.bus } }

  /// True while notifications are inhibited.
  package var isOn: Bool { isInhibited.load(ordering: .relaxed) }

  private func follow(_ bus: BusConnection) {
    note(nil)
    bus.whenEnded { [weak self] in self?.note(nil) }
    bus.subscribe(to: BusConnection.properties, of: Self.service) { [weak self, weak bus] change in
      guard let self, let bus, change.member == "PropertiesChanged",
        change.arguments.first == .string(Self.service)
      else { return }
      if case .dictionary(let values)? = change.arguments.dropFirst().first,
        let value = values[Self.property]
      {
        note(value)
      } else if case .strings(let names)? = change.arguments.last, names.contains(Self.property) {
        ask(bus)
      }
    }
    bus.watchNames { [weak self, weak bus] name, _, after in
      guard let self, let bus, name == Self.service else { return }
      if after.isEmpty { note(nil) } else { ask(bus) }
    }
    // A server that does not run yet is not started for it.
    if bus.owner(of: Self.service) != nil { ask(bus) }
  }

  private func ask(_ bus: BusConnection) {
    bus.call(
      Self.service,
      path: Self.path,
      interface: BusConnection.properties,
      "Get",
      [.string(Self.service), .string(Self.property)]
    ) { [weak self] answer in
      // What it does not answer, or does not know, is no wish for quiet.
      if case .success(let values) = answer { self?.note(values.first) } else { self?.note(nil) }
    }
  }

  private func note(_ value: BusValue?) {
    isInhibited.store(value == .bool(true), ordering: .relaxed)
  }
}
