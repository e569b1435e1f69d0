import BusFixture
@testable import DesktopServices
import Foundation
import Synchronization
import Testing

/// rtkit as it answers on a machine's bus.
private final class ScriptedRealTimeKit: Sendable {
  private static let name = "org.freedesktop.RealtimeKit1"
  private let bus: BusConnection
  private let told = AsyncStream<[BusValue]>.makeStream()

  /// Arguments of the requests for real-time scheduling, in order.
  var requests: AsyncStream<[BusValue]> { told.stream }

  init?(grants: Bool, address: String) {
    guard let bus = BusConnection(address: address) else { return nil }
    self.bus = bus
    let properties: [String: BusValue] = [
      "RTTimeUSecMax": .int64(200_000), "MaxRealtimePriority": .int32(15),
    ]
    let serves = bus.serve(Self.name, interface: "org.freedesktop.DBus.Properties") { message in
      guard case .string(let property)? = message.arguments.last else { return nil }
      return properties[property].map { [.variant($0)] }
    }
    guard serves else { return nil }
    _ = bus.serve(Self.name, interface: Self.name) { [told] message in
      guard message.member == "MakeThreadRealtime" else { return nil }
      told.continuation.yield(message.arguments)
      return grants ? [] : nil
    }
  }
}

struct RealTimeKitTests {
  /// Records limits on real-time processing, in microseconds, instead of setting them for the
  /// process of the tests.
  private final class Limits: Sendable {
    let asked = Mutex<[Int]>([])

    func kit(at address: String) -> RealTimeKit {
      RealTimeKit(address: address) { microseconds in
        self.asked.withLock { $0.append(microseconds) }
        return true
      }
    }
  }

  private static func ask(_ kit: RealTimeKit, thread: Int32) async -> Bool {
    await withCheckedContinuation { continuation in
      kit.promote(thread: thread) { continuation.resume(returning: $0) }
    }
  }

  @Test(.timeLimit(.minutes(10)), arguments: [true, false])
  func threadIsPromotedByWhoMay(grants: Bool) async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let service = try #require(ScriptedRealTimeKit(grants: grants, address: daemon.address))
    let limits = Limits()
    #expect(await Self.ask(limits.kit(at: daemon.address), thread: 4_711) == grants)
    var requests = service.requests.makeAsyncIterator()
    #expect(await requests.next() == [.uint64(4_711), .uint32(15)])
    // The service refuses who has no limit.
    #expect(limits.asked.withLock { $0 } == [200_000])
  }

  @Test func machineWithoutTheServiceIsNoFault() async throws {
    let limits = Limits()
    #expect(await Self.ask(limits.kit(at: "unix:path=/nowhere/bus"), thread: 1) == false)
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    #expect(await Self.ask(limits.kit(at: daemon.address), thread: 1) == false)
    #expect(limits.asked.withLock { $0.isEmpty })
  }
}
