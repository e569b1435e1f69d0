import DesktopBus
import Foundation
import RealTime

/// The machine's service that gives real-time scheduling to programs that may not take it themselves
/// (rtkit, `org.freedesktop.RealtimeKit1`), as sound servers of a desktop use it.
///
/// Without a system bus, or without the service, nothing happens.
///
/// **Thread safety:** any thread; nothing waits for the service, since all is done on a queue of its own.
final class RealTimeKit: Sendable {
  private let queue = DispatchQueue(label: "avfaudio.rtkit")
  private let address: String

  private static let service = "org.freedesktop.RealtimeKit1"
  private static let path = "/org/freedesktop/RealtimeKit1"

  /// The service on the bus at `address`, by default the machine's.
  init(address: String = BusConnection.systemAddress) {
    self.address = address
  }

  /// Asks for real-time scheduling of a thread of this process, by its kernel identifier; tells whether it was granted.
  func promote(thread: Int32, completion: @escaping @Sendable (Bool) -> Void = { _ in }) {
    queue.async { [address] in
      guard let bus = BusConnection(address: address), Self.limitRunning(as: bus) else {
        return completion(false)
      }
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

  // The service asks for this first: a thread that never pauses must not take the machine with it. The voice thread
  // pauses in each period.
  private static func limitRunning(as bus: BusConnection) -> Bool {
    guard let limit = number("RTTimeUSecMax", on: bus), limit > 0 else { return false }
    return RealTimeThread.limitRunning(microseconds: Int(limit))
  }

  private static func number(_ property: String, on bus: BusConnection) -> Int64? {
    let answer = bus.ask(
      service,
      path: path,
      interface: "org.freedesktop.DBus.Properties",
      "Get",
      [.string(service), .string(property)]
    )
    guard case .success(let values) = answer else { return nil }
    switch values.first {
    case .int32(let number): return Int64(number)
    case .int64(let number): return number
    case .uint32(let number): return Int64(number)
    default: return nil
    }
  }
}
