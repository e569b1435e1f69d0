import Dispatch
package import Foundation
import Synchronization

/// A call as the programs of one user see each other's: neither handle nor name is in it (R103).
package struct ProgramCall: Hashable, Sendable {
  /// Identity of the call.
  package let id: UUID
  /// True if the program placed it.
  package let isOutgoing: Bool
  /// True while the call is held.
  package let isOnHold: Bool
  /// True once both sides could talk.
  package let hasConnected: Bool

  /// A call with the given identity and flags.
  package init(id: UUID, isOutgoing: Bool, isOnHold: Bool, hasConnected: Bool) {
    self.id = id
    self.isOutgoing = isOutgoing
    self.isOnHold = isOnHold
    self.hasConnected = hasConnected
  }

  /// True while the call has, or is about to have, the sound devices: it is not held, and does not
  /// just ring.
  package var isActive: Bool { !isOnHold && (isOutgoing || hasConnected) }

  private static let prefix = "org.sidetone.Call."

  /// The name on the bus that stands for the call in its present state.
  var busName: String {
    let digits = id.uuidString.replacing("-", with: "").lowercased()
    let state = [isOutgoing ? "out" : "in", isOnHold ? "held" : "", hasConnected ? "talks" : ""]
    return Self.prefix + "c\(digits).\(state.filter { !$0.isEmpty }.joined(separator: "_"))"
  }

  /// The call that a name on the bus stands for; nil for other names.
  init?(busName: String) {
    guard busName.hasPrefix(Self.prefix) else { return nil }
    let parts = busName.dropFirst(Self.prefix.count).split(separator: ".")
    guard parts.count == 2, parts[0].count == 33, parts[0].first == "c" else { return nil }
    var digits = parts[0].dropFirst().uppercased()
    for place in [20, 16, 12, 8] {
      digits.insert("-", at: digits.index(digits.startIndex, offsetBy: place))
    }
    let state = parts[1].split(separator: "_")
    guard let id = UUID(uuidString: digits), let way = state.first, way == "in" || way == "out"
    else { return nil }
    self.init(
      id: id,
      isOutgoing: way == "out",
      isOnHold: state.contains("held"),
      hasConnected: state.contains("talks")
    )
  }
}

/// Shows this program's calls to the user's other programs, and theirs to this one (R100).
///
/// A call is a name on the user's bus, which says its state, and another name once that changes:
/// the calls of a program that ends are gone at once, and nothing is installed. A program that does
/// not answer has hung, and loses its calls within 2 s, until one of them changes. Without a bus
/// there are no other programs.
///
/// **Thread safety:** any thread; `calls` waits for the bus, 2 s at most.
package final class ProgramCalls: Sendable {
  private struct State {
    /// Other programs' calls, with their names on the bus and the programs' own.
    var calls: [UUID: (call: ProgramCall, name: String, program: String)] = [:]
    /// Looks after the programs while they have calls.
    var watch: (any DispatchSourceTimer)?
    /// Names that came or went while the bus was asked for all of them; nil at other times.
    var news: Set<String>?
    /// Names of this program's calls.
    var own: Set<String> = []
  }

  private let desktop: LastingBus
  private let queue = DispatchQueue(label: "desktop.calls")
  private let state = Mutex(State())
  private let observers = Mutex<[@Sendable (ProgramCall, _ isOver: Bool) -> Void]>([])

  /// The calls on the bus at `address`, by default the user's; it is connected to when it is
  /// needed.
  package init(address: String? = nil) {
    desktop = LastingBus(address: address)
    desktop.whenNew { [weak self] in self?.listen(on: $0) }
    desktop.whenBack { [weak self] in self?.publishAgain(on: $0) }
  }

  /// Shows these calls as this program's, in place of those before; returns at once.
  package func publish(_ calls: [ProgramCall]) {
    let names = Set(calls.map(\.busName))
    queue.async { [self] in
      let former = state.withLock { state in
        defer { state.own = names }
        return state.own
      }
      guard names != former, let bus = desktop.bus else { return }
      for name in names.subtracting(former) { _ = bus.own(name) }
      for name in former.subtracting(names) { bus.disown(name) }
    }
  }

  /// Calls of the user's other programs that are not over.
  package var calls: [ProgramCall] {
    _ = desktop.bus
    return known
  }

  /// The calls that are known of now: those of a moment ago, without any wait for the bus.
  package var known: [ProgramCall] { state.withLock { $0.calls.values.map(\.call) } }

  /// Begins to watch; returns at once.
  package func start() { queue.async { [self] in _ = desktop.bus } }

  /// Calls `observe` with each call of another program that appears, changes or ends.
  ///
  /// `observe` runs on a thread of the bus and must not wait for the bus.
  package func watch(_ observe: @escaping @Sendable (ProgramCall, _ isOver: Bool) -> Void) {
    observers.withLock { $0.append(observe) }
  }

  private func listen(on bus: BusConnection) {
    let own = bus.uniqueName
    let former = state.withLock { state in
      state.news = []
      defer { state.calls = [:] }
      return state.calls
    }
    bus.watchNames { [weak self] name, before, after in
      guard let self, before != own, after != own, let call = ProgramCall(busName: name) else {
        return
      }
      note(call, as: name, of: after)
      if !after.isEmpty { lookAfterPrograms() }
    }
    let found = bus.names.compactMap { name in ProgramCall(busName: name).map { ($0, name) } }
      .compactMap { call, name in bus.owner(of: name).map { (call, name, $0) } }
      .filter { $0.2 != own }
    let changes = state.withLock { state in
      let news = state.news ?? []
      state.news = nil
      for entry in found where !news.contains(entry.1) { state.calls[entry.0.id] = entry }
      // What was known of on a bus that has gone.
      let ended = former.values.filter { state.calls[$0.call.id] == nil }.map { ($0.call, true) }
      return ended + state.calls.values.map { ($0.call, false) }
    }
    for (call, isOver) in changes { report(call, isOver: isOver) }
    lookAfterPrograms()
  }

  // No `program` has the name any more if that is empty.
  private func note(_ call: ProgramCall, as name: String, of program: String) {
    let isNews = state.withLock { state in
      state.news?.insert(name)
      guard program.isEmpty else {
        state.calls[call.id] = (call, name, program)
        return true
      }
      // The name of a former state goes once the new one is there.
      guard state.calls[call.id]?.name == name else { return false }
      state.calls[call.id] = nil
      return true
    }
    if isNews { report(call, isOver: program.isEmpty) }
  }

  /// Time between two looks at the other programs, and for their answers, in milliseconds.
  private static let patience = 900

  private func lookAfterPrograms() {
    state.withLock { state in
      guard state.watch == nil, !state.calls.isEmpty else { return }
      let pause = DispatchTimeInterval.milliseconds(Self.patience)
      let watch = DispatchSource.makeTimerSource(queue: queue)
      watch.schedule(deadline: .now() + pause, repeating: pause)
      watch.setEventHandler { [weak self] in self?.ask() }
      watch.resume()
      state.watch = watch
    }
  }

  private func ask() {
    let programs = state.withLock { state in
      if state.calls.isEmpty {
        state.watch?.cancel()
        state.watch = nil
      }
      return Set(state.calls.values.map(\.program))
    }
    for program in programs {
      // One that does not know the question is there all the same.
      desktop.current?.call(
        program,
        path: "/",
        interface: "org.freedesktop.DBus.Peer",
        "Ping",
        [],
        waiting: Self.patience
      ) { [weak self] in
        if case .failure(let error) = $0, error.isUnanswered { self?.dropCalls(of: program) }
      }
    }
  }

  private func dropCalls(of program: String) {
    let dropped = state.withLock { state in
      let dropped = state.calls.values.filter { $0.program == program }.map(\.call)
      for call in dropped { state.calls[call.id] = nil }
      return dropped
    }
    for call in dropped { report(call, isOver: true) }
  }

  deinit { state.withLock { $0.watch?.cancel() } }

  private func report(_ call: ProgramCall, isOver: Bool) {
    for observe in observers.withLock({ $0 }) { observe(call, isOver) }
  }

  private func publishAgain(on bus: BusConnection) {
    queue.async { [self] in
      for name in state.withLock({ $0.own }) { _ = bus.own(name) }
    }
  }
}
