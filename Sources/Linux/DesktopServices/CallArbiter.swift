import Dispatch
import Synchronization

/// Grants the active call to one program of a user at a time.
///
/// The owner of a name on the user's bus has the active call; a program that crashes loses it. A
/// program that claims it asks the owner to make way, and may let it resume its call afterwards.
/// Without a bus every claim succeeds, and is repeated on the next bus.
///
/// **Thread safety:** any thread; a method waits for each answer of the bus, 2 s at most, and
/// `claim` for the other program as well.
package final class CallArbiter: Sendable {
  /// A request of another program.
  package enum Request: String, Sendable {
    /// Hold or end the active call, and release the name.
    case makeWay = "MakeWay"
    /// Resume the call that was held for the requesting program.
    case resume = "Resume"
  }

  private static let name = "org.sidetone.ActiveCall"
  private static let path = "/org/sidetone/ActiveCall"
  /// Time for an app to hold its call (R1), and to end a call that it did not hold.
  private static let patience = DispatchTimeInterval.seconds(11)

  private let desktop: LastingBus
  /// True while this program claims the active call.
  ///
  /// Its lock is held while the bus is asked: a claim on a new bus must not outlive the call.
  private let isClaimed = Mutex(false)
  private let observers = Mutex<[@Sendable (_ isTaken: Bool) -> Void]>([])
  private let askedHandler = Mutex<(@Sendable (Request) -> Void)?>(nil)
  /// Unique bus names of the programs that made way and have not been asked to resume, in order.
  private let yielders = Mutex<[String]>([])
  /// Signalled when the name is free.
  private let freed = DispatchSemaphore(value: 0)

  /// The arbiter on the bus at `address`, by default the user's; it is connected to when it is
  /// needed.
  package init(address: String? = nil) {
    desktop = LastingBus(address: address)
    desktop.whenNew { [weak self] in self?.listen(on: $0) }
    desktop.whenBack { [weak self] in self?.claimAgain(on: $0) }
    // A program that has a call may find the bus a moment later: no interruption ends before.
    desktop.whenBack(afterMilliseconds: LastingBus.settlingMilliseconds) { [weak self] bus in
      self?.report(from: bus)
    }
  }

  /// Takes the active call once its owner has made way; false if the owner can neither be asked nor
  /// replaced.
  ///
  /// Not for two threads at once. An owner that does not answer for 2 s, or still has the name 11 s
  /// after the claim, is replaced.
  package func claim() -> Bool {
    let end = DispatchTime.now() + Self.patience
    var asked: [String] = []
    while freed.wait(timeout: .now()) == .success {}
    var isTaken = take()
    while !isTaken {
      // Another program may have been faster when the name was free.
      if let bus = desktop.bus, let owner = bus.owner(of: Self.name), owner != asked.last {
        let answer = ask(owner, .makeWay, on: bus)
        if case .failure(let error) = answer, !error.isUnanswered { return take() }
        asked.append(owner)
        if case .failure = answer {
          isTaken = take(replacing: true)
          break
        }
      }
      isTaken = take()
      if !isTaken, freed.wait(timeout: end) == .timedOut {
        isTaken = take(replacing: true)
        break
      }
    }
    guard isTaken else { return false }
    yielders.withLock { yielders in
      yielders.removeAll { asked.contains($0) }
      yielders += asked
    }
    return true
  }

  private func take(replacing: Bool = false) -> Bool {
    isClaimed.withLock { isClaimed in
      isClaimed =
        desktop.bus?.own(Self.name, replacing: replacing, isReplaceable: true) ?? true
      return isClaimed
    }
  }

  private func ask(
    _ program: String,
    _ request: Request,
    on bus: BusConnection
  ) -> Result<[BusValue], BusError> {
    bus.ask(program, path: Self.path, interface: Self.name, request.rawValue, [])
  }

  /// Gives up the active call, and lets the last program that made way resume its own (R75).
  package func giveBack() {
    release()
    guard let bus = desktop.current else { return }
    while let yielder = yielders.withLock({ $0.popLast() }) {
      // One that has ended has no call to resume.
      if case .success = ask(yielder, .resume, on: bus) { return }
    }
  }

  /// Calls `handle` with each request of another program.
  ///
  /// `handle` runs on a thread of the bus and must not wait for the bus.
  package func whenAsked(_ handle: @escaping @Sendable (Request) -> Void) {
    askedHandler.withLock { $0 = handle }
  }

  /// Gives the active call up; does nothing without a claim.
  package func release() {
    isClaimed.withLock { isClaimed in
      if isClaimed { desktop.current?.disown(Self.name) }
      isClaimed = false
    }
  }

  /// True if another program has the active call.
  package var isTaken: Bool { desktop.bus.map(Self.isTaken(on:)) ?? false }

  private static func isTaken(on bus: BusConnection) -> Bool {
    guard let owner = bus.owner(of: name) else { return false }
    return owner != bus.uniqueName
  }

  /// Calls `observe` when another program takes the active call, and when it gives it up; after a
  /// restart of the bus, with the present state.
  ///
  /// `observe` runs on a thread of the bus and must not wait for the bus.
  package func watch(_ observe: @escaping @Sendable (_ isTaken: Bool) -> Void) {
    observers.withLock { $0.append(observe) }
    _ = desktop.bus
  }

  private func listen(on bus: BusConnection) {
    let own = bus.uniqueName
    bus.answer(Self.name) { [weak self] message in
      guard let request = Request(rawValue: message.member), self?.note(request) == true
      else { return nil }
      return []
    }
    bus.watchNames { [weak self] name, before, after in
      guard let self, name == Self.name else { return }
      if after.isEmpty { freed.signal() }
      if !after.isEmpty, after != own { report(true) }
      if after.isEmpty, before != own { report(false) }
      // This program did not answer in time.
      if !after.isEmpty, before == own { _ = note(.makeWay) }
    }
  }

  private func claimAgain(on bus: BusConnection) {
    isClaimed.withLock { if $0 { _ = bus.own(Self.name, isReplaceable: true) } }
    // On this bus the name that is waited for may be free.
    freed.signal()
    if Self.isTaken(on: bus) { report(true) }
  }

  // False if there are no calls here to ask.
  private func note(_ request: Request) -> Bool {
    guard let handle = askedHandler.withLock({ $0 }) else { return false }
    handle(request)
    return true
  }

  private func report(from bus: BusConnection) {
    let isTaken = Self.isTaken(on: bus)
    // If this bus has gone too, its answer is void.
    if bus.isConnected { report(isTaken) }
  }

  private func report(_ isTaken: Bool) {
    for observe in observers.withLock({ $0 }) { observe(isTaken) }
  }
}
