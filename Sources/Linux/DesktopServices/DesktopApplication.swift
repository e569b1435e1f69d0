/// D-Bus interface by which the desktop starts this program and passes it links to open (Desktop
/// Entry Specification, "D-Bus Activation").
///
/// **Life cycle:** has its name from its initializer to `close`. **Thread safety:** any thread;
/// `open` is called on the bus's queue.
package final class DesktopApplication: Sendable {
  private static let interface = "org.freedesktop.Application"

  private let desktop: LastingBus
  private let name: String

  /// Takes the name of the desktop entry on the bus at `address`, by default the user's, and gets
  /// the links that are opened; nil without a bus, or if another program has the name.
  package init?(
    name: String,
    address: String? = nil,
    open: @escaping @Sendable (_ link: String) -> Void
  ) {
    let desktop = LastingBus(address: address)
    // Links wait on the bus, and come as soon as the name is taken.
    desktop.whenNew { bus in
      bus.answer(Self.interface) { message in
        switch message.member {
        case "Activate", "ActivateAction": return []
        case "Open":
          guard case .strings(let links)? = message.arguments.first else { return nil }
          links.forEach(open)
          return []
        default: return nil
        }
      }
    }
    desktop.whenBack { _ = $0.own(name) }
    guard desktop.bus?.own(name) == true else { return nil }
    self.desktop = desktop
    self.name = name
  }

  /// Gives the name up.
  package func close() { desktop.current?.disown(name) }
}
