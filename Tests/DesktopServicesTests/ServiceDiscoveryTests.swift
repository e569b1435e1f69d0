import BusFixture
@testable import DesktopServices
import Foundation
import Synchronization
import Testing

/// Avahi on the bus, as far as browsing and publishing need it (its D-Bus interface, 0.8).
private final class ScriptedAvahi: Sendable {
  private static let name = "org.freedesktop.Avahi"
  private let bus: BusConnection
  /// Method calls received, in order.
  let asked = AsyncStream<BusMessage>.makeStream()
  /// Service names that other machines have taken.
  private let taken: Mutex<Set<String>>

  init?(address: String, taken: Set<String> = []) {
    guard let bus = BusConnection(address: address) else { return nil }
    self.bus = bus
    self.taken = Mutex(taken)
    for part in ["ServiceBrowser", "ServiceResolver", "EntryGroup"] {
      bus.answer("\(Self.name).\(part)") { [weak self] in self?.answer($0) }
    }
    guard
      bus.serve(
        Self.name,
        interface: "\(Self.name).Server2",
        handler: { [weak self] in
          self?.answer($0)
        }
      )
    else { return nil }
  }

  private func answer(_ message: BusMessage) -> [BusValue]? {
    defer { asked.continuation.yield(message) }
    switch message.member {
    case "ServiceBrowserPrepare": return [.path("/browser")]
    case "ServiceResolverPrepare":
      guard case .int32(let interface) = message.arguments[0] else { return nil }
      return [.path("/resolver/\(interface)")]
    case "EntryGroupNew": return [.path("/group")]
    case "GetAlternativeServiceName":
      guard case .string(let name)? = message.arguments.first else { return nil }
      return [.string(name + " #2")]
    case "AddService":
      guard case .string(let name) = message.arguments[3] else { return nil }
      return taken.withLock { $0.contains(name) } ? nil : []
    default: return []
    }
  }

  func emit(_ part: String, _ path: String, _ member: String, _ arguments: [BusValue]) {
    bus.emit(path: path, interface: "\(Self.name).\(part)", member, arguments)
  }

  static func item(_ name: String, interface: Int32) -> [BusValue] {
    [
      .int32(interface), .int32(0), .string(name), .string("_sip._udp"), .string("local"),
      .uint32(0),
    ]
  }

  static func found(_ name: String, interface: Int32, _ texts: [[UInt8]]) -> [BusValue] {
    item(name, interface: interface).dropLast() + [
      .string("desk.local"), .int32(0), .string("192.168.1.\(interface)"), .uint16(5_060),
      .byteStrings(texts), .uint32(8),
    ]
  }
}

struct ServiceDiscoveryTests {
  @Test(.timeLimit(.minutes(10)))
  func servicesAreFoundAndLost() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let avahi = try #require(ScriptedAvahi(address: daemon.address))
    let (changes, continuation) = AsyncStream<ServiceBrowser.Change>.makeStream()
    let browser = ServiceBrowser(type: "_sip._udp", address: daemon.address) {
      continuation.yield($0)
    }
    defer { withExtendedLifetime(browser) {} }
    var asked = avahi.asked.stream.makeAsyncIterator()
    var change = changes.makeAsyncIterator()
    #expect(await asked.next()?.member == "ServiceBrowserPrepare")
    #expect(await asked.next()?.member == "Start")

    avahi.emit("ServiceBrowser", "/browser", "ItemNew", ScriptedAvahi.item("Zoë", interface: 7))
    avahi.emit("ServiceBrowser", "/browser", "AllForNow", [])
    #expect(await asked.next()?.member == "ServiceResolverPrepare")
    #expect(await asked.next()?.path == "/resolver/7")
    let texts = ["user=zoe", "user=other", "flag", "=", "Fp=12=3"].map { Array($0.utf8) }
    avahi.emit(
      "ServiceResolver",
      "/resolver/7",
      "Found",
      ScriptedAvahi.found("Zoë", interface: 7, texts + [[0xFF, 0x3D, 0xFF]])
    )
    let key = AnnouncedService.Key(interface: 7, networkProtocol: 0, name: "Zoë", domain: "local")
    guard case .found(let service)? = await change.next() else {
      Issue.record("nothing was found")
      return
    }
    #expect(service.key == key)
    #expect(service.address == "192.168.1.7" && service.port == 5_060)
    #expect(service.texts["user"] == "zoe" && service.texts["fp"] == "12=3")
    #expect(service.isOfThisMachine)
    // It is complete once what was heard has been looked up as well.
    #expect(await change.next() == .complete)

    avahi.emit("ServiceBrowser", "/browser", "ItemRemove", ScriptedAvahi.item("Zoë", interface: 7))
    #expect(await change.next() == .lost(key))
  }

  @Test(.timeLimit(.minutes(10)))
  func whatIsMalformedIsNotFound() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let avahi = try #require(ScriptedAvahi(address: daemon.address))
    let (changes, continuation) = AsyncStream<ServiceBrowser.Change>.makeStream()
    let browser = ServiceBrowser(type: "_sip._udp", address: daemon.address) {
      continuation.yield($0)
    }
    defer { withExtendedLifetime(browser) {} }
    var asked = avahi.asked.stream.makeAsyncIterator()
    while await asked.next()?.member != "Start" {}
    avahi.emit("ServiceBrowser", "/browser", "ItemNew", [])
    avahi.emit("ServiceBrowser", "/browser", "ItemNew", [.uint32(1), .bool(true)])
    avahi.emit("ServiceBrowser", "/browser", "ItemNew", ScriptedAvahi.item("", interface: 1))
    avahi.emit("ServiceBrowser", "/elsewhere", "ItemNew", ScriptedAvahi.item("X", interface: 1))
    avahi.emit("ServiceResolver", "/resolver/1", "Found", [])
    avahi.emit("ServiceBrowser", "/browser", "Failure", [.string("no network")])
    var change = changes.makeAsyncIterator()
    #expect(await change.next() == .failed("no network"))
  }

  @Test(.timeLimit(.minutes(10)))
  func announcementTakesAnotherNameWhereItsOwnIsTaken() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let avahi = try #require(ScriptedAvahi(address: daemon.address, taken: ["Alice"]))
    let (names, continuation) = AsyncStream<String>.makeStream()
    let publisher = ServicePublisher(
      .init(name: "Alice", type: "_sip._udp", port: 5_062, texts: ["user": "alice"]),
      address: daemon.address
    ) { continuation.yield($0) }
    defer { withExtendedLifetime(publisher) {} }
    var asked = avahi.asked.stream.makeAsyncIterator()
    var added: [BusMessage] = []
    while let message = await asked.next(), message.member != "Commit" {
      if message.member == "AddService" { added.append(message) }
    }
    #expect(added.map { $0.arguments[3] } == [.string("Alice"), .string("Alice #2")])
    #expect(added.last?.arguments[7] == .uint16(5_062))
    #expect(added.last?.arguments[8] == .byteStrings([Array("user=alice".utf8)]))
    // Another machine has that one: Avahi learns of it after a while.
    avahi.emit("EntryGroup", "/group", "StateChanged", [.int32(3), .string("")])
    while let message = await asked.next(), message.member != "Commit" {}
    avahi.emit("EntryGroup", "/group", "StateChanged", [.int32(2), .string("")])
    var name = names.makeAsyncIterator()
    #expect(await name.next() == "Alice #2 #2")
  }

  @Test(.timeLimit(.minutes(10)))
  func announcementIsMadeAgainByAServerThatBeginsAnew() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    // Nothing answers the first question.
    let publisher = ServicePublisher(
      .init(name: "Alice", type: "_sip._udp", port: 5_062, texts: [:]),
      address: daemon.address
    )
    defer { withExtendedLifetime(publisher) {} }
    // Each server gives its first group the same name.
    for _ in 0..<3 {
      let avahi = try #require(ScriptedAvahi(address: daemon.address))
      var asked = avahi.asked.stream.makeAsyncIterator()
      var members: [String] = []
      while members.last != "Commit", let message = await asked.next() {
        members.append(message.member)
      }
      #expect(members == ["EntryGroupNew", "AddService", "Commit"])
      let bus = try #require(BusConnection(address: daemon.address))
      withExtendedLifetime(avahi) {}
      _ = consume avahi
      for _ in 0..<10_000 where bus.owner(of: "org.freedesktop.Avahi") != nil {
        await Task.yield()
      }
    }
  }

  @Test func namesAreCutBetweenCharacters() {
    let name = String(repeating: "ö", count: 40)
    let announcement = ServicePublisher.Announcement(name: name, type: "", port: 1, texts: [:])
    #expect(announcement.label == String(repeating: "ö", count: 31))
  }
}
