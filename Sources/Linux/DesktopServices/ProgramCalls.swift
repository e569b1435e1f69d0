import Dispatch
package import Foundation
import Synchronization

/// State of a call as the user's other programs see it, without handle and name (R103).
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

  /// Bus name that encodes the call and its present state.
  var busName: String {
    let digits = id.uuidString.replacing("-", with: "").lowercased()
    let state = [isOutgoing ? "out" : "in", isOnHold ? "held" : "", hasConnected ? "talks" : ""]
    return Self.prefix + "c\(digits).\(state.filter { !$0.isEmpty }.joined(separator: "_"))"
  }

  /// Reads a call from its bus name; nil for other names.
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
/// Each call is a name on the user's bus that encodes its state, and is replaced when the state
/// changes, so the calls of a program that ends are gone at once. If a program leaves two pings in
/// a row unanswered, its calls count as ended, within 2 s, until one of them changes. Without a bus
/// there are no other programs.
///
/// **Thread safety:** any thread; `calls` waits for the bus, 2 s for each of its answers at most.
package final class ProgramCalls: Sendable {
  /// A bus name of another program's call.
  private struct NamedCall {
    let call: ProgramCall
    /// Unique bus name of the program.
    let program: String
    /// Order of appearance; the newest name of a call gives its state.
    let number: Int
  }

  private struct State {
    var names: [String: NamedCall] = [:]
    var nextNumber = 0
    /// Names that came or went while the bus was asked for all of them; nil at other times.
    var news: Set<String>?
    /// Names of this program's calls.
    var own: Set<String> = []
    /// True while the other programs are pinged.
    var isWatching = false
    /// Pings in a row that a program has not answered, by its unique bus name.
    var misses: [String: Int] = [:]

    mutating func add(_ name: String, _ call: ProgramCall, of program: String) {
      nextNumber += 1
      names[name] = NamedCall(call: call, program: program, number: nextNumber)
    }

    func last(of id: UUID) -> NamedCall? {
      names.values.filter { $0.call.id == id }.max { $0.number < $1.number }
    }

    var calls: [ProgramCall] {
      Set(names.values.map(\.call.id)).compactMap { last(of: $0)?.call }
    }
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

  /// Calls of the other programs as last reported by the bus; does not wait for it.
  package var known: [ProgramCall] { state.withLock { $0.calls } }

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
    forget()
    state.withLock { $0.news = [] }
    // libdbus answers no question of its own accord here.
    bus.answer("org.freedesktop.DBus.Peer") { $0.member == "Ping" ? [] : nil }
    bus.watchNames { [weak self] name, before, after in
      guard let self, before != own, after != own, let call = ProgramCall(busName: name) else {
        return
      }
      note(call, as: name, of: after)
    }
    bus.whenEnded { [weak self, weak bus] in
      guard let self else { return }
      // Not at once: it may end while it is listened to.
      queue.async { [self, weak bus] in
        // A newer one has been listened to.
        guard desktop.current.map({ $0 === bus }) ?? true else { return }
        forget()
      }
    }
    let found = bus.names.compactMap { name in ProgramCall(busName: name).map { ($0, name) } }
      .compactMap { call, name in bus.owner(of: name).map { (call, name, $0) } }
      .filter { $0.2 != own }
    let calls = state.withLock { state in
      let news = state.news ?? []
      state.news = nil
      for (call, name, program) in found where !news.contains(name) {
        state.add(name, call, of: program)
      }
      return state.calls
    }
    for call in calls { report(call, isOver: false) }
    lookAfterPrograms()
  }

  // What was known of on a bus that has gone.
  private func forget() {
    let ended = state.withLock { state in
      defer { state.names = [:] }
      return state.calls
    }
    for call in ended { report(call, isOver: true) }
  }

  // No `program` has the name any more if that is empty.
  private func note(_ call: ProgramCall, as name: String, of program: String) {
    let news = state.withLock { state -> (call: ProgramCall, isOver: Bool)? in
      state.news?.insert(name)
      let former = state.last(of: call.id)?.call
      if program.isEmpty { state.names[name] = nil } else { state.add(name, call, of: program) }
      guard let present = state.last(of: call.id)?.call else {
        return former.map { ($0, true) }
      }
      return present == former ? nil : (present, false)
    }
    if let news { report(news.call, isOver: news.isOver) }
    lookAfterPrograms()
  }

  /// Range of the pause between two pings, in milliseconds: random, since two programs that ping
  /// each other at the same time do not answer.
  private static let pauses = 350...550
  /// Time for an answer, in milliseconds.
  private static let patience = 300

  private func lookAfterPrograms() {
    let isDue = state.withLock { state in
      guard !state.isWatching, !state.names.isEmpty else { return false }
      state.isWatching = true
      return true
    }
    if isDue { lookAgain() }
  }

  private func lookAgain() {
    let pause = DispatchTimeInterval.milliseconds(.random(in: Self.pauses))
    queue.asyncAfter(deadline: .now() + pause) { [weak self] in self?.ask() }
  }

  private func ask() {
    let programs = state.withLock { state in
      let programs = Set(state.names.values.map(\.program))
      state.isWatching = !programs.isEmpty
      state.misses = state.misses.filter { programs.contains($0.key) }
      return programs
    }
    guard !programs.isEmpty else { return }
    for program in programs {
      desktop.current?.call(
        program,
        path: "/",
        interface: "org.freedesktop.DBus.Peer",
        "Ping",
        [],
        waiting: Self.patience,
        whenLate: { [weak self] _ in self?.state.withLock { $0.misses[program] = nil } },
        completion: { [weak self] in self?.noteAnswer(of: program, $0) }
      )
    }
    lookAgain()
  }

  private func noteAnswer(of program: String, _ answer: Result<[BusValue], BusError>) {
    let dropped = state.withLock { state -> [ProgramCall] in
      guard case .failure(let error) = answer, error.isUnanswered else {
        state.misses[program] = nil
        return []
      }
      state.misses[program, default: 0] += 1
      guard state.misses[program, default: 0] > 1 else { return [] }
      state.misses[program] = nil
      let ids = Set(state.names.values.filter { $0.program == program }.map(\.call.id))
      let calls = ids.compactMap { state.last(of: $0)?.call }
      state.names = state.names.filter { $0.value.program != program }
      return calls
    }
    for call in dropped { report(call, isOver: true) }
  }

  private func report(_ call: ProgramCall, isOver: Bool) {
    for observe in observers.withLock({ $0 }) { observe(call, isOver) }
  }

  private func publishAgain(on bus: BusConnection) {
    queue.async { [self] in
      for name in state.withLock({ $0.own }) { _ = bus.own(name) }
    }
  }
}
