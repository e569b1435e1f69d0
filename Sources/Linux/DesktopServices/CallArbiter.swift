import Synchronization

/// Sees to it that one program of a desktop has the active call at a time.
///
/// The owner of the name on the user's bus has the call: nothing is installed, and a program that
/// crashes loses it. Without a bus every claim succeeds, and is made again on the next one.
///
/// **Thread safety:** any thread; a call waits for the bus, 2 s at most.
package final class CallArbiter: Sendable {
  private static let name = "org.sidetone.ActiveCall"

  private let desktop: LastingBus
  /// Its lock is held while the bus is asked: a claim on a new bus must not outlive the call.
  private let isClaimed = Mutex(false)
  private let observers = Mutex<[@Sendable (_ isTaken: Bool) -> Void]>([])

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

  /// Takes the active call; false if another program has it.
  package func claim() -> Bool {
    isClaimed.withLock { isClaimed in
      isClaimed = desktop.bus?.own(Self.name) ?? true
      return isClaimed
    }
  }

  /// Gives the active call up; does nothing without a claim.
  package func release() {
    isClaimed.withLock { isClaimed in
      if isClaimed { desktop.current?.disown(Self.name) }
      isClaimed = false
    }
  }

  /// Whether another program has the active call.
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
    bus.watchNames { [weak self] name, before, after in
      guard name == Self.name else { return }
      if !after.isEmpty, after != own { self?.report(true) }
      if after.isEmpty, before != own { self?.report(false) }
    }
  }

  private func claimAgain(on bus: BusConnection) {
    isClaimed.withLock { if $0 { _ = bus.own(Self.name) } }
    if Self.isTaken(on: bus) { report(true) }
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
