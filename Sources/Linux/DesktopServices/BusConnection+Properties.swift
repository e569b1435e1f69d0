/// Properties of the objects of services (D-Bus specification, "org.freedesktop.DBus.Properties").
extension BusConnection {
  static let properties = "org.freedesktop.DBus.Properties"

  /// A property of an interface of a service's object; nil if it cannot be read.
  package func property(
    _ name: String,
    of interface: String,
    at path: String,
    on destination: String
  ) -> BusValue? {
    let answer = ask(
      destination,
      path: path,
      interface: Self.properties,
      "Get",
      [.string(interface), .string(name)]
    )
    guard case .success(let values) = answer else { return nil }
    return values.first
  }

  /// Sets a property of an interface of a service's object; a service that refuses keeps its own.
  package func setProperty(
    _ name: String,
    of interface: String,
    at path: String,
    on destination: String,
    to value: BusValue
  ) {
    _ = ask(
      destination,
      path: path,
      interface: Self.properties,
      "Set",
      [.string(interface), .string(name), .variant(value)]
    )
  }
}
