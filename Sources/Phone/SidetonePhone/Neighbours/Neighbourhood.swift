import DesktopServices

/// The phones on the local network, from the announcements on each interface: a value without I/O.
///
/// A phone is announced once for each interface and protocol, but is one neighbour, at the best of
/// its addresses. Announcements of one name by different machines, or with different identities,
/// are different neighbours: one of them may be forged.
struct Neighbourhood: Equatable {
  private struct Announcer: Hashable {
    let name: String
    let domain: String
    let host: String
    let fingerprint: String?

    init(_ service: AnnouncedService) {
      name = service.key.name
      domain = service.key.domain
      host = service.host
      fingerprint = service.texts[Neighbour.fingerprintKey]
    }
  }

  private var services: [Announcer: [AnnouncedService]] = [:]
  private var shown: [Announcer: Neighbour] = [:]

  /// The neighbours, by name.
  var neighbours: [Neighbour] { shown.values.sorted { ($0.name, $0.uri) < ($1.name, $1.uri) } }

  /// Applies a change of the announced services, and returns the resulting events.
  mutating func handle(_ change: ServiceBrowser.Change) -> [NeighbourEvent] {
    switch change {
    case .found(let service):
      let announcer = Announcer(service)
      // It may have been another one's a moment ago.
      let changed = forget(service.key).subtracting([announcer])
      services[announcer, default: []].append(service)
      return changed.flatMap { update($0) } + update(announcer)
    case .lost(let key):
      return forget(key).flatMap { update($0) }
    case .complete:
      return [.complete]
    case .failed(let reason):
      return [.failed(reason)]
    }
  }

  private mutating func forget(_ key: AnnouncedService.Key) -> Set<Announcer> {
    let known = services.filter { $0.value.contains { $0.key == key } }.keys
    for announcer in known { services[announcer]?.removeAll { $0.key == key } }
    return Set(known)
  }

  private mutating func update(_ announcer: Announcer) -> [NeighbourEvent] {
    let heard = services[announcer] ?? []
    if heard.isEmpty { services[announcer] = nil }
    let best = heard.sorted(by: Self.isBetter).lazy.compactMap { Neighbour($0) }.first
    let before = shown[announcer]
    guard best != before else { return [] }
    shown[announcer] = best
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
