import Dispatch
import Synchronization

/// Connection to a bus that may be restarted, made when first needed, and again after its loss.
///
/// If there are handlers for its return, a bus that has gone is searched for after 100 ms, then at
/// intervals that double, up to a second. A caller who needs it earlier connects at once.
///
/// **Life cycle:** searches until `deinit`. **Thread safety:** any thread; `bus` waits for a bus
/// that hangs, 2 s at most.
package final class LastingBus: Sendable {
  private typealias Handler = @Sendable (BusConnection) -> Void

  private struct State {
    var bus: BusConnection?
    var prepare: Handler?
    var returnHandlers: [(milliseconds: Int, handle: Handler)] = []
    var isLooking = false
  }

  /// Time for other programs to find a restarted bus, in milliseconds: more than the longest pause
  /// between two searches.
  static let settlingMilliseconds = 2_000
  private static let shortestPause = 100
  private static let longestPause = 1_000

  private let queue = DispatchQueue(label: "desktop.bus.return")
  private let address: String?
  private let state = Mutex(State())

  /// The bus at `address`, by default the user's.
  package init(address: String?) {
    self.address = address
  }

  /// Calls `prepare` with each new connection before anything else uses it, and now with the
  /// present one.
  ///
  /// Other threads wait for the bus meanwhile: `prepare` must not use `bus` or `current`.
  package func whenNew(_ prepare: @escaping @Sendable (BusConnection) -> Void) {
    state.withLock { state in
      state.prepare = prepare
      if let bus = state.bus { prepare(bus) }
    }
  }

  /// Calls `handle` a number of milliseconds after a missing bus has come back, on a queue where it
  /// may block.
  package func whenBack(
    afterMilliseconds milliseconds: Int = 0,
    _ handle: @escaping @Sendable (BusConnection) -> Void
  ) {
    state.withLock { $0.returnHandlers.append((milliseconds, handle)) }
  }

  /// The connection, made now if there is none; nil without a bus.
  package var bus: BusConnection? {
    state.withLock { state in
      if let bus = state.bus, bus.isConnected { return bus }
      state.bus = BusConnection(address: address)
      guard let bus = state.bus else {
        look(&state)
        return nil
      }
      state.prepare?(bus)
      bus.whenEnded { [weak self] in self?.noteEnd() }
      return bus
    }
  }

  /// The last connection, which may have ended; nil before the first.
  package var current: BusConnection? { state.withLock { $0.bus } }

  private func noteEnd() { state.withLock { look(&$0) } }

  // Where no address is known, no bus will come.
  private func look(_ state: inout State) {
    guard !state.returnHandlers.isEmpty, !state.isLooking,
      (address ?? BusConnection.sessionAddress) != nil
    else { return }
    state.isLooking = true
    look(inMilliseconds: Self.shortestPause)
  }

  private func look(inMilliseconds pause: Int) {
    queue.asyncAfter(deadline: .now() + .milliseconds(pause)) { [weak self] in
      guard let self else { return }
      guard let bus else { return look(inMilliseconds: min(2 * pause, Self.longestPause)) }
      let handlers = state.withLock { state in
        state.isLooking = false
        // It may have gone again meanwhile.
        if !bus.isConnected { look(&state) }
        return state.returnHandlers
      }
      for (milliseconds, handle) in handlers {
        queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak bus] in
          if let bus, bus.isConnected { handle(bus) }
        }
      }
    }
  }
}
