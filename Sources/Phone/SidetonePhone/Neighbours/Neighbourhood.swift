import DesktopServices

/// Who is on the local network, from what was heard on each interface: a value without I/O.
///
/// A phone is heard once for each interface and protocol, and is one neighbour nevertheless, at the
/// best of its addresses.
struct Neighbourhood: Equatable {
  private struct Name: Hashable {
    let name: String
    let domain: String
  }

  private var services: [Name: [AnnouncedService]] = [:]
  private var shown: [Name: Neighbour] = [:]

  /// The neighbours, by name.
  var neighbours: [Neighbour] { shown.values.sorted { ($0.name, $0.uri) < ($1.name, $1.uri) } }

  /// Takes in what has become known, and returns what is new to users.
  mutating func handle(_ change: ServiceBrowser.Change) -> [NeighbourEvent] {
    switch change {
    case .found(let service):
      let name = Name(name: service.key.name, domain: service.key.domain)
      services[name, default: []].removeAll { $0.key == service.key }
      services[name, default: []].append(service)
      return update(name)
    case .lost(let key):
      let name = Name(name: key.name, domain: key.domain)
      services[name]?.removeAll { $0.key == key }
      return update(name)
    case .complete:
      return [.complete]
    case .failed(let reason):
      return [.failed(reason)]
    }
  }

  private mutating func update(_ name: Name) -> [NeighbourEvent] {
    let heard = services[name] ?? []
    if heard.isEmpty { services[name] = nil }
    let best = heard.sorted(by: Self.isBetter).lazy.compactMap { Neighbour($0) }.first
    let before = shown[name]
    guard best != before else { return [] }
    shown[name] = best
    if let best { return [.arrived(best)] }
    return before.map { [.left($0)] } ?? []
  }

  private static func isBetter(_ one: AnnouncedService, _ other: AnnouncedService) -> Bool {
    (rank(one.address), one.key.interface) < (rank(other.address), other.key.interface)
  }

  // What people can read comes first, and what only this machine reaches last.
  private static func rank(_ address: String) -> Int {
    if address == "::1" || address.hasPrefix("127.") { return 3 }
    if address.hasPrefix("169.254.") { return 2 }
    return address.contains(":") ? 1 : 0
  }
}
