@testable import AVFAudio
import DesktopBus
import Foundation
import Glibc
import Synchronization
import Testing

/// rtkit as it answers on a machine's bus.
private final class ScriptedRealTimeKit: Sendable {
  private static let name = "org.freedesktop.RealtimeKit1"
  private let bus: BusConnection
  private let told = AsyncStream<[BusValue]>.makeStream()

  /// What it was asked for.
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

/// Limits are the process's: one test at a time.
@Suite(.serialized)
struct RealTimeKitTests {
  private static var limit: rlimit {
    var limit = rlimit()
    _ = unsafe getrlimit(__rlimit_resource_t(15), &limit)
    return limit
  }

  private static func ask(_ kit: RealTimeKit, thread: Int32) async -> Bool {
    await withCheckedContinuation { continuation in
      kit.promote(thread: thread) { continuation.resume(returning: $0) }
    }
  }

  @Test(.timeLimit(.minutes(1)), arguments: [true, false])
  func threadIsPromotedByWhoMay(grants: Bool) async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    var before = Self.limit
    let service = try #require(ScriptedRealTimeKit(grants: grants, address: daemon.address))
    let kit = RealTimeKit(address: daemon.address)
    #expect(await Self.ask(kit, thread: 4_711) == grants)
    var requests = service.requests.makeAsyncIterator()
    #expect(await requests.next() == [.uint64(4_711), .uint32(15)])
    // The service refuses who has no limit.
    #expect(Self.limit.rlim_cur == 200_000)
    _ = unsafe setrlimit(__rlimit_resource_t(15), &before)
  }

  @Test func machineWithoutTheServiceIsNoFault() async throws {
    let nowhere = RealTimeKit(address: "unix:path=/nowhere/bus")
    #expect(await Self.ask(nowhere, thread: 1) == false)
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let before = Self.limit.rlim_cur
    #expect(await Self.ask(RealTimeKit(address: daemon.address), thread: 1) == false)
    #expect(Self.limit.rlim_cur == before)
  }
}
