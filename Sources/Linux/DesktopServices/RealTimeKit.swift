import Foundation
import RealTime

/// The machine's service that gives real-time scheduling to programs that may not set it themselves
/// (rtkit, `org.freedesktop.RealtimeKit1`), as sound servers of a desktop use it.
///
/// It first requires a limit to the time that a real-time thread may run without a pause, so that
/// none can block the machine; the limit holds for the whole process and its children. The voice
/// thread pauses in each period.
///
/// Without a system bus, or without the service, nothing happens.
///
/// **Thread safety:** any thread; nothing waits for the service, since all is done on a queue of
/// its own.
package final class RealTimeKit: Sendable {
  private let queue = DispatchQueue(label: "avfaudio.rtkit")
  private let address: String
  private let limit: @Sendable (_ microseconds: Int) -> Bool

  private static let service = "org.freedesktop.RealtimeKit1"
  private static let path = "/org/freedesktop/RealtimeKit1"

  /// The service on the bus at `address`, by default the machine's; `limit` sets the limit that the
  /// service requires, and returns false if it cannot.
  package init(
    address: String = BusConnection.systemAddress,
    limit: @escaping @Sendable (_ microseconds: Int) -> Bool = {
      RealTimeThread.limitRunning(microseconds: $0)
    }
  ) {
    self.address = address
    self.limit = limit
  }

  /// Asks for real-time scheduling of a thread of this process, by its kernel identifier;
  /// `completion` gets true if it was granted.
  package func promote(thread: Int32, completion: @escaping @Sendable (Bool) -> Void = { _ in }) {
    queue.async { [address, limit] in
      guard let bus = BusConnection(address: address),
        let longest = Self.number("RTTimeUSecMax", on: bus), limit(Int(clamping: longest))
      else { return completion(false) }
      let granted = Self.number("MaxRealtimePriority", on: bus) ?? Int64(RealTimeThread.priority)
      let priority = min(Int64(RealTimeThread.priority), granted)
      guard priority > 0 else { return completion(false) }
      let answer = bus.ask(
        Self.service,
        path: Self.path,
        interface: Self.service,
        "MakeThreadRealtime",
        [.uint64(UInt64(thread)), .uint32(UInt32(priority))]
      )
      if case .success = answer { completion(true) } else { completion(false) }
    }
  }

  private static func number(_ property: String, on bus: BusConnection) -> Int64? {
    switch bus.property(property, of: service, at: path, on: service) {
    case .int32(let number): return Int64(number)
    case .int64(let number): return number
    case .uint32(let number): return Int64(number)
    default: return nil
    }
  }
}
