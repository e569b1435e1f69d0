package import DesktopServices

extension BusConnection {
  /// Takes a name and answers an interface's methods; nil from the handler answers with an error.
  ///
  /// Returns false if another program has the name.
  package func serve(
    _ name: String,
    interface: String,
    handler: @escaping @Sendable (BusMessage) -> [BusValue]?
  ) -> Bool {
    answer(interface, handler: handler)
    return own(name) ?? false
  }
}
