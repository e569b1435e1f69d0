import CDBus
import Foundation
import Glibc
import Synchronization

/// A connection to a D-Bus message bus, the user's session bus or the system bus, by libdbus.
///
/// **Life cycle:** connected by the initialiser, until `deinit` or until the bus has gone;
/// `LastingBus` connects again. **Thread safety:** every method
/// may be called from any thread; everything runs on one serial queue, handlers too.
// SAFETY: connection and handlers are confined to `queue`.
@safe
package final class BusConnection: @unchecked Sendable {
  private let queue = DispatchQueue(label: "desktop.bus")
  private let connection: OpaquePointer
  /// Descriptor that the source watches.
  ///
  /// A duplicate: libdbus closes its own as soon as the bus has gone, and another file may get that
  /// number.
  private let descriptor: CInt
  private let isOpen = Atomic(true)
  private var endHandlers: [@Sendable () -> Void] = []
  private var source: (any DispatchSourceRead)?
  private struct Subscription {
    let service: String
    let interface: String
    let handler: @Sendable (BusMessage) -> Void
  }

  private var signals: [Subscription] = []
  /// Unique names of the services whose signals are received; empty for a service that is not
  /// there.
  private var owners: [String: String] = [:]
  private var methods: [String: @Sendable (BusMessage) -> [BusValue]?] = [:]
  /// Handlers of replies that arrive after the timeout, by the serial numbers of the calls.
  private var lateHandlers: [UInt32: @Sendable ([BusValue]) -> Void] = [:]

  /// Connects to the bus at `address`, or else to the user's; nil if there is none, or if it does
  /// not answer.
  ///
  /// Waits two seconds at most. A bus that took that long is not tried again within half a minute:
  /// a bus that hangs must not keep a call waiting again and again.
  package init?(address: String? = nil) {
    // Without an address libdbus would start a bus of its own.
    guard let address = address ?? Self.sessionAddress else { return nil }
    guard !Self.isHanging(address),
      let connection = unsafe dbus_connection_open_private(address, nil)
    else { return nil }
    unsafe dbus_connection_set_exit_on_disconnect(connection, 0)
    let begin = DispatchTime.now()
    guard unsafe Self.register(connection) else {
      // One that refuses at once, as it starts or ends, may be there in a moment.
      if DispatchTime.now() >= begin + .milliseconds(Self.patience) { Self.noteHanging(address) }
      unsafe dbus_connection_close(connection)
      unsafe dbus_connection_unref(connection)
      return nil
    }
    let descriptor = unsafe Self.duplicateDescriptor(of: connection)
    guard descriptor >= 0 else {
      unsafe dbus_connection_close(connection)
      unsafe dbus_connection_unref(connection)
      return nil
    }
    unsafe self.connection = connection
    self.descriptor = descriptor
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler { [weak self] in self?.read() }
    // The descriptor lives for as long as it is watched.
    let closing = unsafe Closing(connection, descriptor)
    source.setCancelHandler { closing.close() }
    source.resume()
    self.source = source
  }

  // Negative if there is none.
  private static func duplicateDescriptor(of connection: OpaquePointer) -> CInt {
    var descriptor: CInt = -1
    guard unsafe dbus_connection_get_unix_fd(connection, &descriptor) != 0 else { return -1 }
    return fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
  }

  /// Times until which buses that did not answer are left alone, by their addresses.
  private static let hanging = Mutex<[String: DispatchTime]>([:])

  private static func isHanging(_ address: String) -> Bool {
    hanging.withLock { $0[address].map { DispatchTime.now() < $0 } ?? false }
  }

  private static func noteHanging(_ address: String) {
    hanging.withLock { $0[address] = .now() + .seconds(30) }
  }

  // As `dbus_bus_register`, which would wait for 25 s, or for ever if nothing is authenticated.
  private static func register(_ connection: OpaquePointer) -> Bool {
    let end = DispatchTime.now() + .milliseconds(patience)
    while unsafe dbus_connection_get_is_authenticated(connection) == 0 {
      guard DispatchTime.now() < end, unsafe dbus_connection_read_write(connection, 50) != 0 else {
        return false
      }
    }
    let left =
      Int(end.uptimeNanoseconds / 1_000_000)
      - Int(DispatchTime.now().uptimeNanoseconds / 1_000_000)
    let hello = unsafe send(
      connection,
      daemon,
      "/org/freedesktop/DBus",
      daemon,
      "Hello",
      [],
      waiting: max(1, left)
    ).result
    guard case .success(let values) = hello, case .string(let name) = values.first else {
      return false
    }
    return unsafe dbus_bus_set_unique_name(connection, name) != 0
  }

  /// The address of the user's bus; nil if there is none.
  static var sessionAddress: String? {
    ProcessInfo.processInfo.environment["DBUS_SESSION_BUS_ADDRESS"]
  }

  /// The address of the machine's bus, on which system services are.
  package static var systemAddress: String {
    ProcessInfo.processInfo.environment["DBUS_SYSTEM_BUS_ADDRESS"]
      ?? "unix:path=/run/dbus/system_bus_socket"
  }

  // SAFETY: the reference is used once, by the source that was cancelled.
  @safe
  private struct Closing: @unchecked Sendable {
    private let connection: OpaquePointer
    private let descriptor: CInt

    init(_ connection: OpaquePointer, _ descriptor: CInt) {
      unsafe self.connection = dbus_connection_ref(connection)
      self.descriptor = descriptor
    }

    func close() {
      unsafe dbus_connection_close(connection)
      unsafe dbus_connection_unref(connection)
      Glibc.close(descriptor)
    }
  }

  deinit {
    source?.cancel()
    unsafe dbus_connection_unref(connection)
  }

  /// False once the bus has gone: every call fails then, and a new connection is needed.
  package var isConnected: Bool { isOpen.load(ordering: .acquiring) }

  /// Calls `handle` once on the bus's queue when the bus has gone; soon, if it already has.
  func whenEnded(_ handle: @escaping @Sendable () -> Void) {
    queue.async { [self] in
      if isConnected { endHandlers.append(handle) } else { handle() }
    }
  }

  /// Calls a method; `completion` gets the reply on the bus's queue, which is blocked until then,
  /// for `milliseconds` at most.
  ///
  /// A bus or service that stalls for longer may still carry out the call: `whenLate` gets its late
  /// reply, after `completion` got an error.
  package func call(
    _ destination: String,
    path: String,
    interface: String,
    _ member: String,
    _ arguments: [BusValue],
    waiting milliseconds: Int = BusConnection.patience,
    whenLate: (@Sendable ([BusValue]) -> Void)? = nil,
    completion: @escaping @Sendable (Result<[BusValue], BusError>) -> Void
  ) {
    queue.async { [self] in
      let (result, number) = unsafe Self.send(
        connection,
        destination,
        path,
        interface,
        member,
        arguments,
        waiting: milliseconds
      )
      if let number, let whenLate { expect(number, whenLate) }
      completion(result)
      drain()
    }
  }

  /// Most late replies that are awaited; the oldest is given up first.
  private static let lateLimit = 64

  private func expect(_ number: UInt32, _ handle: @escaping @Sendable ([BusValue]) -> Void) {
    guard isConnected else { return }
    lateHandlers[number] = handle
    if lateHandlers.count > Self.lateLimit, let oldest = lateHandlers.keys.min() {
      lateHandlers[oldest] = nil
    }
  }

  /// Calls a method and waits for the reply, 2 s at most.
  ///
  /// Not to be called from a handler of this bus, which runs on the queue that it would wait for.
  package func ask(
    _ destination: String,
    path: String,
    interface: String,
    _ member: String,
    _ arguments: [BusValue]
  ) -> Result<[BusValue], BusError> {
    queue.sync {
      defer { drain() }
      return send(destination, path, interface, member, arguments)
    }
  }

  /// The name that the bus gave this connection.
  package var uniqueName: String {
    queue.sync { unsafe Self.text(dbus_bus_get_unique_name(connection)) }
  }

  private static let daemon = "org.freedesktop.DBus"
  /// Time to wait for a reply, in milliseconds.
  package static let patience = 2_000

  private func askDaemon(_ member: String, _ arguments: [BusValue]) -> BusValue? {
    let answer = ask(
      Self.daemon,
      path: "/org/freedesktop/DBus",
      interface: Self.daemon,
      member,
      arguments
    )
    guard case .success(let values) = answer else { return nil }
    return values.first
  }

  /// Takes a name; false if another program has it, nil if the bus does not answer.
  ///
  /// `replacing` takes it from an owner that allows replacement; `isReplaceable` allows it.
  package func own(_ name: String, replacing: Bool = false, isReplaceable: Bool = false) -> Bool? {
    let flags = UInt32(
      DBUS_NAME_FLAG_DO_NOT_QUEUE | (replacing ? DBUS_NAME_FLAG_REPLACE_EXISTING : 0)
        | (isReplaceable ? DBUS_NAME_FLAG_ALLOW_REPLACEMENT : 0)
    )
    guard case .uint32(let result)? = askDaemon("RequestName", [.string(name), .uint32(flags)])
    else { return nil }
    let granted = [DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER, DBUS_REQUEST_NAME_REPLY_ALREADY_OWNER]
    return granted.contains(CInt(result))
  }

  /// Gives a name up.
  package func disown(_ name: String) {
    _ = askDaemon("ReleaseName", [.string(name)])
  }

  /// The unique name of the program that has a name; nil if none has it.
  package func owner(of name: String) -> String? {
    guard case .string(let owner)? = askDaemon("GetNameOwner", [.string(name)]) else { return nil }
    return owner
  }

  /// All names on the bus.
  package var names: [String] {
    guard case .strings(let names)? = askDaemon("ListNames", []) else { return [] }
    return names
  }

  /// True if a program has the name, or would be started for it.
  package func hasService(_ name: String) -> Bool {
    if owner(of: name) != nil { return true }
    guard case .strings(let names)? = askDaemon("ListActivatableNames", []) else { return false }
    return names.contains(name)
  }

  /// Calls `observe` with each name on the bus whose owner changes, and its owner before and after,
  /// empty for none.
  package func watchNames(
    _ observe: @escaping @Sendable (_ name: String, _ before: String, _ after: String) -> Void
  ) {
    subscribe(to: Self.daemon, of: Self.daemon) { message in
      guard message.member == "NameOwnerChanged", message.arguments.count == 3,
        case .string(let name) = message.arguments[0],
        case .string(let before) = message.arguments[1],
        case .string(let after) = message.arguments[2]
      else { return }
      observe(name, before, after)
    }
  }

  private func send(
    _ destination: String,
    _ path: String,
    _ interface: String,
    _ member: String,
    _ arguments: [BusValue]
  ) -> Result<[BusValue], BusError> {
    unsafe Self.send(connection, destination, path, interface, member, arguments).result
  }

  // The number is that of a question whose answer may still come.
  private static func send(
    _ connection: OpaquePointer,
    _ destination: String,
    _ path: String,
    _ interface: String,
    _ member: String,
    _ arguments: [BusValue],
    waiting milliseconds: Int = BusConnection.patience
  ) -> (result: Result<[BusValue], BusError>, number: UInt32?) {
    guard let message = unsafe dbus_message_new_method_call(destination, path, interface, member)
    else { return (.failure(BusError(reason: "no memory for a message")), nil) }
    defer { unsafe dbus_message_unref(message) }
    unsafe BusMarshal.append(arguments, to: message)
    var error = unsafe dbus_error_empty()
    defer { unsafe dbus_error_free(&error) }
    let reply = unsafe dbus_connection_send_with_reply_and_block(
      connection,
      message,
      CInt(clamping: milliseconds),
      &error
    )
    guard let reply = unsafe reply else {
      let text = unsafe error.message.map { unsafe String(cString: $0) }
      let isOpen = unsafe dbus_error_has_name(&error, DBUS_ERROR_NO_REPLY) != 0
      let number = isOpen ? unsafe dbus_message_get_serial(message) : nil
      let failure = BusError(reason: text ?? "\(member) failed", isUnanswered: isOpen)
      return (.failure(failure), number)
    }
    defer { unsafe dbus_message_unref(reply) }
    return (.success(unsafe BusMarshal.values(of: reply)), nil)
  }

  /// Subscribes to an interface's signals from the program that has the service's name.
  ///
  /// Signals of other programs are ignored, since any of them could send the same.
  package func subscribe(
    to interface: String,
    of service: String,
    handler: @escaping @Sendable (BusMessage) -> Void
  ) {
    queue.async { [self] in
      signals.append(Subscription(service: service, interface: interface, handler: handler))
      listen("type='signal',sender='\(service)',interface='\(interface)'")
      if service != Self.daemon, owners[service] == nil { follow(service) }
      unsafe dbus_connection_flush(connection)
      drain()
    }
  }

  private func listen(_ rule: String) { unsafe dbus_bus_add_match(connection, rule, nil) }

  // Heard of before it is asked for, so that no change is missed.
  private func follow(_ service: String) {
    let (daemon, path) = (Self.daemon, "/org/freedesktop/DBus")
    let change = "interface='\(daemon)',member='NameOwnerChanged',arg0='\(service)'"
    listen("type='signal',sender='\(daemon)',\(change)")
    owners[service] = ""
    let answer = send(daemon, path, daemon, "GetNameOwner", [.string(service)])
    if case .success(let values) = answer, case .string(let owner)? = values.first {
      owners[service] = owner
    }
  }

  private func noteOwner(_ change: BusMessage) {
    guard change.member == "NameOwnerChanged", change.arguments.count == 3,
      case .string(let name) = change.arguments[0], owners[name] != nil,
      case .string(let owner) = change.arguments[2]
    else { return }
    owners[name] = owner
  }

  /// Answers calls of an interface's methods, under any name of this connection; nil from the
  /// handler replies with an error.
  package func answer(
    _ interface: String,
    handler: @escaping @Sendable (BusMessage) -> [BusValue]?
  ) {
    queue.sync { methods[interface] = handler }
  }

  /// Sends a signal, as tests do in place of a service.
  package func emit(path: String, interface: String, _ member: String, _ arguments: [BusValue]) {
    queue.async { [self] in
      guard let message = unsafe dbus_message_new_signal(path, interface, member) else { return }
      defer { unsafe dbus_message_unref(message) }
      unsafe BusMarshal.append(arguments, to: message)
      _ = unsafe dbus_connection_send(connection, message, nil)
      unsafe dbus_connection_flush(connection)
      drain()
    }
  }

  // MARK: What comes

  // The source reports a hang-up once, so everything is read in one go.
  private func read() {
    repeat {
      _ = unsafe dbus_connection_read_write(connection, 0)
      drain()
    } while isConnected && isReadable
  }

  private var isReadable: Bool {
    var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&waited, 1, 0) > 0
  }

  private func drain() {
    while let message = unsafe dbus_connection_pop_message(connection) {
      unsafe take(message)
      unsafe dbus_message_unref(message)
    }
    endIfGone()
  }

  // A method call may notice the end before the source does.
  private func endIfGone() {
    guard isConnected, unsafe dbus_connection_get_is_connected(connection) == 0 else { return }
    isOpen.store(false, ordering: .releasing)
    source?.cancel()
    let handlers = endHandlers
    (endHandlers, lateHandlers) = ([], [:])
    for handle in handlers { handle() }
  }

  private func take(_ message: OpaquePointer) {
    let come = unsafe BusMessage(
      path: Self.text(dbus_message_get_path(message)),
      interface: Self.text(dbus_message_get_interface(message)),
      member: Self.text(dbus_message_get_member(message)),
      arguments: BusMarshal.values(of: message)
    )
    switch unsafe dbus_message_get_type(message) {
    case DBUS_MESSAGE_TYPE_SIGNAL:
      let sender = unsafe Self.text(dbus_message_get_sender(message))
      if sender == Self.daemon, come.interface == Self.daemon { noteOwner(come) }
      for signal in signals
      where signal.interface == come.interface && sender == owner(ofService: signal.service) {
        signal.handler(come)
      }
    case DBUS_MESSAGE_TYPE_METHOD_CALL:
      unsafe answer(message, methods[come.interface]?(come))
    case DBUS_MESSAGE_TYPE_METHOD_RETURN:
      // Those that are in time do not come this way.
      let number = unsafe dbus_message_get_reply_serial(message)
      lateHandlers.removeValue(forKey: number)?(come.arguments)
    case DBUS_MESSAGE_TYPE_ERROR:
      let number = unsafe dbus_message_get_reply_serial(message)
      lateHandlers[number] = nil
    default:
      break
    }
  }

  private func owner(ofService service: String) -> String? {
    service == Self.daemon ? service : owners[service]
  }

  private func answer(_ message: OpaquePointer, _ values: [BusValue]?) {
    let reply =
      values == nil
      ? unsafe dbus_message_new_error(message, DBUS_ERROR_UNKNOWN_METHOD, "no such method")
      : unsafe dbus_message_new_method_return(message)
    guard let reply = unsafe reply else { return }
    defer { unsafe dbus_message_unref(reply) }
    if let values { unsafe BusMarshal.append(values, to: reply) }
    _ = unsafe dbus_connection_send(connection, reply, nil)
    unsafe dbus_connection_flush(connection)
  }

  private static func text(_ pointer: UnsafePointer<CChar>?) -> String {
    unsafe pointer.map { unsafe String(cString: $0) } ?? ""
  }
}
