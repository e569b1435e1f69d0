/// Announces a service on the local network, by Avahi (DNS-SD, RFC 6763).
///
/// If another service has the name, an alternative with a number is used; if Avahi is restarted,
/// the service is announced again. **Life cycle:** from the initialiser until `deinit`, which
/// withdraws the announcement. **Thread safety:** any thread; everything happens on the bus's
/// queue.
// SAFETY: what changes is touched on the bus's queue only.
package final class ServicePublisher: @unchecked Sendable {
  /// The service to announce.
  package struct Announcement: Equatable, Sendable {
    /// The human-readable name; longer ones are cut to 63 bytes (RFC 6763 section 4.1.1).
    package var name: String
    /// The service type, such as `_sip._udp`.
    package var type: String
    /// The port at this machine.
    package var port: UInt16
    /// Values of the TXT record by their keys; each entry `key=value` is cut to 255 bytes (RFC 6763
    /// section 6.1).
    package var texts: [String: String]

    /// An announcement with the given fields.
    package init(name: String, type: String, port: UInt16, texts: [String: String]) {
      self.name = name
      self.type = type
      self.port = port
      self.texts = texts
    }

    /// The name cut to the 63 bytes of a DNS label.
    var label: String {
      var label = name
      while label.utf8.count > 63 { label.removeLast() }
      return label
    }

    /// The TXT record's entries.
    var entries: [[UInt8]] {
      texts.sorted { $0.key < $1.key }.map { Array("\($0.key)=\($0.value)".utf8.prefix(255)) }
    }
  }

  private let bus: BusConnection
  private let announcement: Announcement
  private let observe: @Sendable (_ name: String) -> Void
  private var name: String
  private var group = ""
  private var attempts = 0
  private var isBeginning = false
  private var mustBeginAgain = false

  /// Most names that are tried for a service.
  private static let attemptLimit = 50
  private static let collision: Int32 = 3
  private static let established: Int32 = 2

  /// Announces a service by the Avahi of the D-Bus at `address`, the system bus by default; nil if
  /// there is no bus.
  ///
  /// `observe` is called on the bus's queue with the name under which the service was announced.
  package init?(
    _ announcement: Announcement,
    address: String = BusConnection.systemAddress,
    observe: @escaping @Sendable (_ name: String) -> Void = { _ in }
  ) {
    guard let bus = BusConnection(address: address) else { return nil }
    self.bus = bus
    self.announcement = announcement
    self.observe = observe
    name = announcement.label
    bus.subscribe(to: Avahi.group, of: Avahi.service) { [weak self] in self?.handle($0) }
    bus.watchNames { [weak self] name, before, owner in
      guard name == Avahi.service else { return }
      self?.serverChanged(isGone: !before.isEmpty, isThere: !owner.isEmpty)
    }
    begin()
  }

  private func serverChanged(isGone: Bool, isThere: Bool) {
    // A new server may give its groups the same names.
    if isGone { group = "" }
    guard isThere, group.isEmpty else { return }
    // The first question may have started the server that is now seen to come.
    if isBeginning { mustBeginAgain = true } else { begin() }
  }

  private func begin() {
    attempts = 0
    name = announcement.label
    isBeginning = true
    mustBeginAgain = false
    ask("/", Avahi.server, "EntryGroupNew") { publisher, values in
      publisher.isBeginning = false
      guard case .string(let path)? = values?.first else {
        if publisher.mustBeginAgain { publisher.begin() }
        return
      }
      publisher.group = path
      publisher.publish()
    }
  }

  private func publish() {
    let arguments: [BusValue] = [
      Avahi.any, Avahi.any, .uint32(0), .string(name), .string(announcement.type), .string(""),
      .string(""), .uint16(announcement.port), .byteStrings(announcement.entries),
    ]
    ask(group, Avahi.group, "AddService", arguments) { publisher, values in
      // The only thing that a well-formed service is refused for is that another one on this
      // machine has the name.
      guard values != nil else { return publisher.takeAnotherName() }
      publisher.ask(publisher.group, Avahi.group, "Commit") { _, _ in }
    }
  }

  private func takeAnotherName() {
    attempts += 1
    guard attempts < Self.attemptLimit else { return }
    ask("/", Avahi.server, "GetAlternativeServiceName", [.string(name)]) { publisher, values in
      guard case .string(let other)? = values?.first else { return }
      publisher.name = other
      publisher.ask(publisher.group, Avahi.group, "Reset") { publisher, _ in publisher.publish() }
    }
  }

  private func handle(_ message: BusMessage) {
    guard message.path == group, message.member == "StateChanged",
      case .int32(let state)? = message.arguments.first
    else { return }
    if state == Self.collision { takeAnotherName() }
    if state == Self.established { observe(name) }
  }

  private func ask(
    _ path: String,
    _ interface: String,
    _ member: String,
    _ arguments: [BusValue] = [],
    then use: @escaping @Sendable (ServicePublisher, [BusValue]?) -> Void
  ) {
    bus.call(Avahi.service, path: path, interface: interface, member, arguments) { [weak self] in
      guard let self else { return }
      if case .success(let values) = $0 { use(self, values) } else { use(self, nil) }
    }
  }
}
