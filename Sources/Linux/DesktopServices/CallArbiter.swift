import Synchronization

/// Sees to it that one program of a desktop has the active call at a time.
///
/// The owner of the name on the user's bus has the call: nothing is installed, and a program that
/// crashes loses it. Without a bus every claim succeeds.
///
/// **Thread safety:** any thread; a call waits for the bus, 2 s at most.
package final class CallArbiter: Sendable {
  private static let name = "org.sidetone.ActiveCall"

  private let address: String?
  private let connection = Mutex<BusConnection?>(nil)

  /// The arbiter on the bus at `address`, by default the user's; it is connected to when it is
  /// needed.
  package init(address: String? = nil) {
    self.address = address
  }

  private var bus: BusConnection? {
    connection.withLock { connection in
      if connection == nil { connection = BusConnection(address: address) }
      return connection
    }
  }

  /// Takes the active call; false if another program has it.
  package func claim() -> Bool {
    bus?.own(Self.name) ?? true
  }

  /// Gives the active call up.
  package func release() {
    connection.withLock { $0 }?.disown(Self.name)
  }

  /// Whether another program has the active call.
  package var isTaken: Bool {
    guard let bus, let owner = bus.owner(of: Self.name) else { return false }
    return owner != bus.uniqueName
  }

  /// Tells `observe`, on a thread of the bus, when another program takes the active call, and when
  /// it gives it up.
  package func watch(_ observe: @escaping @Sendable (_ isTaken: Bool) -> Void) {
    guard let bus else { return }
    let own = bus.uniqueName
    bus.watchNames { name, before, after in
      guard name == Self.name else { return }
      if !after.isEmpty, after != own { observe(true) }
      if after.isEmpty, before != own { observe(false) }
    }
  }
}
