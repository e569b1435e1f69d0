/// Looks for services of one type on the local network, by Avahi.
///
/// **Life cycle:** looks from the initialiser until `deinit`; if Avahi starts anew, so does the
/// search. **Thread safety:** changes come on the bus's queue.
// SAFETY: what changes is touched on the bus's queue only.
package final class ServiceBrowser: @unchecked Sendable {
  /// A change in the services on the network.
  package enum Change: Equatable, Sendable {
    /// A service was found, or its data have changed.
    case found(AnnouncedService)
    /// A service has gone.
    case lost(AnnouncedService.Key)
    /// All services that are there now have been reported.
    case complete
    /// The network cannot be searched.
    case failed(String)
  }

  private let bus: BusConnection
  private let type: String
  private let observe: @Sendable (Change) -> Void
  private var browser = ""
  /// Services that are being resolved or watched, by the paths of Avahi's resolver objects.
  private var resolvers: [String: AnnouncedService.Key] = [:]
  private var pending: Set<AnnouncedService.Key> = []
  private var hasHeardAll = false

  /// Most services that are resolved; further announcements are ignored, since so long a list helps
  /// no user.
  private static let limit = 500

  /// Looks for services of a type such as `_sip._udp`, through the machine's bus at `address`; nil
  /// if there is no bus.
  package init?(
    type: String,
    address: String = BusConnection.systemAddress,
    observe: @escaping @Sendable (Change) -> Void
  ) {
    guard let bus = BusConnection(address: address) else { return nil }
    self.bus = bus
    self.type = type
    self.observe = observe
    bus.subscribe(to: Avahi.browser, of: Avahi.service) { [weak self] in self?.handle($0) }
    bus.subscribe(to: Avahi.resolver, of: Avahi.service) { [weak self] in self?.handle($0) }
    bus.watchNames { [weak self] name, _, owner in
      if name == Avahi.service { self?.serverChanged(isThere: !owner.isEmpty) }
    }
    begin()
  }

  private func begin() {
    let arguments = [Avahi.any, Avahi.any, .string(type), .string(""), .uint32(0)]
    ask("ServiceBrowserPrepare", arguments) { $0.prepared($1) }
  }

  private func prepared(_ answer: Result<[BusValue], BusError>) {
    switch answer {
    case .success(let values):
      let path = Self.text(values.first)
      guard browser != path else { return }
      browser = path
      tell(path, Avahi.browser, "Start")
    case .failure(let error):
      observe(.failed(error.reason))
    }
  }

  private func serverChanged(isThere: Bool) {
    for key in Set(resolvers.values) { observe(.lost(key)) }
    resolvers = [:]
    pending = []
    browser = ""
    hasHeardAll = false
    if isThere { begin() }
  }

  // MARK: What Avahi says

  private func handle(_ message: BusMessage) {
    if message.interface == Avahi.browser {
      guard message.path == browser else { return }
      handleBrowser(message)
    } else if let key = resolvers[message.path] {
      handleResolver(message, key)
    }
  }

  private func handleBrowser(_ message: BusMessage) {
    switch message.member {
    case "ItemNew":
      if let key = Self.key(of: message.arguments) { resolve(key) }
    case "ItemRemove":
      if let key = Self.key(of: message.arguments) { forget(key) }
    case "AllForNow":
      hasHeardAll = true
      tellIfComplete()
    case "Failure":
      observe(.failed(Self.text(message.arguments.first)))
    default:
      break
    }
  }

  private func handleResolver(_ message: BusMessage, _ key: AnnouncedService.Key) {
    if message.member == "Found", let service = Self.service(of: message.arguments, key) {
      observe(.found(service))
    }
    pending.remove(key)
    tellIfComplete()
  }

  private func tellIfComplete() {
    guard hasHeardAll, pending.isEmpty else { return }
    hasHeardAll = false
    observe(.complete)
  }

  private func resolve(_ key: AnnouncedService.Key) {
    guard resolvers.count + pending.count < Self.limit, !pending.contains(key),
      !resolvers.values.contains(key)
    else { return }
    pending.insert(key)
    let arguments: [BusValue] = [
      .int32(key.interface), .int32(key.networkProtocol), .string(key.name), .string(type),
      // An address of the kind that it was heard by.
      .string(key.domain), .int32(key.networkProtocol), .uint32(0),
    ]
    ask("ServiceResolverPrepare", arguments) { $0.prepared($1, for: key) }
  }

  private func prepared(_ answer: Result<[BusValue], BusError>, for key: AnnouncedService.Key) {
    guard case .success(let values) = answer else {
      // The others are still looked up.
      pending.remove(key)
      return tellIfComplete()
    }
    let path = Self.text(values.first)
    // It may have gone meanwhile.
    guard pending.contains(key) else { return tell(path, Avahi.resolver, "Free") }
    resolvers[path] = key
    tell(path, Avahi.resolver, "Start")
  }

  private func forget(_ key: AnnouncedService.Key) {
    pending.remove(key)
    for (path, known) in resolvers where known == key {
      resolvers[path] = nil
      tell(path, Avahi.resolver, "Free")
      observe(.lost(key))
    }
    tellIfComplete()
  }

  private func ask(
    _ member: String,
    _ arguments: [BusValue],
    then use: @escaping @Sendable (ServiceBrowser, Result<[BusValue], BusError>) -> Void
  ) {
    bus.call(Avahi.service, path: "/", interface: Avahi.server, member, arguments) { [weak self] in
      if let self { use(self, $0) }
    }
  }

  private func tell(_ path: String, _ interface: String, _ member: String) {
    bus.call(Avahi.service, path: path, interface: interface, member, []) { _ in }
  }

  // MARK: Reading

  private static func text(_ value: BusValue?) -> String {
    if case .string(let text)? = value { text } else { "" }
  }

  // interface, protocol, name, type, domain, flags
  static func key(of arguments: [BusValue]) -> AnnouncedService.Key? {
    guard arguments.count >= 5, case .int32(let interface) = arguments[0],
      case .int32(let networkProtocol) = arguments[1], case .string(let name) = arguments[2],
      case .string(let domain) = arguments[4], !name.isEmpty
    else { return nil }
    return .init(
      interface: interface,
      networkProtocol: networkProtocol,
      name: name,
      domain: domain
    )
  }

  // interface, protocol, name, type, domain, host, protocol of the address, address, port, TXT,
  // flags
  static func service(
    of arguments: [BusValue],
    _ key: AnnouncedService.Key
  ) -> AnnouncedService? {
    guard arguments.count >= 11, case .string(let host) = arguments[5],
      case .string(let address) = arguments[7], case .uint16(let port) = arguments[8],
      case .byteStrings(let entries) = arguments[9], case .uint32(let flags) = arguments[10],
      port > 0, !address.isEmpty
    else { return nil }
    return AnnouncedService(
      key: key,
      host: host,
      address: address,
      port: port,
      texts: AnnouncedService.texts(entries),
      isOfThisMachine: flags & Avahi.isLocal != 0
    )
  }
}
