import DesktopBus
import Foundation
import Testing

@testable import AVFAudio

/// A sound server that has reserved a card.
private final class ScriptedServer: Sendable {
  static let name = "org.freedesktop.ReserveDevice1.Audio3"
  private static let interface = "org.freedesktop.ReserveDevice1"
  private let bus: BusConnection
  private let told = AsyncStream<[BusValue]>.makeStream()

  /// What it was asked to let go for.
  var requests: AsyncStream<[BusValue]> { told.stream }

  init?(priority: Int32, yields: Bool, address: String) {
    guard let bus = BusConnection(address: address) else { return nil }
    self.bus = bus
    let properties: [String: BusValue] = [
      "Priority": .int32(priority), "ApplicationName": .string("Music"),
    ]
    bus.answer("org.freedesktop.DBus.Properties") { message in
      guard case .string(let property)? = message.arguments.last else { return nil }
      return properties[property].map { [.variant($0)] }
    }
    let serves = bus.serve(Self.name, interface: Self.interface) { [told, weak bus] message in
      told.continuation.yield(message.arguments)
      // The bus's own queue cannot wait for itself.
      if yields {
        bus?.call(
          "org.freedesktop.DBus",
          path: "/org/freedesktop/DBus",
          interface: "org.freedesktop.DBus",
          "ReleaseName",
          [.string(Self.name)]
        ) { _ in }
      }
      return [.bool(yields)]
    }
    guard serves else { return nil }
  }

  /// Asks for the card as another program would.
  func ask(for card: String) -> Result<[BusValue], BusError> {
    bus.ask(
      card,
      path: "/org/freedesktop/ReserveDevice1/Audio3",
      interface: Self.interface,
      "RequestRelease",
      [.int32(20)]
    )
  }

  func takesBack() -> Bool? { bus.own(Self.name) }
}

struct CardReservationTests {
  @Test(.timeLimit(.minutes(1))) func soundServerLetsTheCardGo() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let server = try #require(
      ScriptedServer(priority: -20, yields: true, address: daemon.address)
    )
    let reservations = CardReservations(address: daemon.address)
    try reservations.take(card: 3)
    var requests = server.requests.makeAsyncIterator()
    #expect(await requests.next() == [.int32(.max)])
    #expect(server.takesBack() == false)
    // A call lets go of its card for nobody.
    #expect(try server.ask(for: ScriptedServer.name).get() == [.bool(false)])
    reservations.giveBack(card: 3)
    #expect(server.takesBack() == true)
  }

  @Test(arguments: [(Int32(-20), false), (Int32.max, true)])
  func programThatKeepsTheCardIsNamed(priority: Int32, yields: Bool) throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let server = try #require(
      ScriptedServer(priority: priority, yields: yields, address: daemon.address)
    )
    let reservations = CardReservations(address: daemon.address)
    #expect(throws: CardReservations.Refusal(holder: "Music")) { try reservations.take(card: 3) }
    // Another card is free.
    try reservations.take(card: 4)
    withExtendedLifetime(server) {}
  }

  @Test func cardIsFreeWhenNobodyHoldsItAnyMore() throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let other = try #require(BusConnection(address: daemon.address))
    let reservations = CardReservations(address: daemon.address)
    for _ in 1...2 { try reservations.take(card: 3) }
    reservations.giveBack(card: 3)
    #expect(other.owner(of: ScriptedServer.name) != nil)
    reservations.giveBack(card: 3)
    #expect(other.owner(of: ScriptedServer.name) == nil)
    reservations.giveBack(card: 3)
  }

  @Test func withoutABusEveryCardIsFree() throws {
    let reservations = CardReservations(address: "unix:path=/nowhere/bus")
    try reservations.take(card: 0)
    reservations.giveBack(card: 0)
  }
}
