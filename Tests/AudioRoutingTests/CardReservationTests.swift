import BusFixture
import ALSAAudio
@testable import DesktopServices
import Foundation
import RealTime
import Synchronization
import Testing

@testable import AudioRouting

/// A sound server that has reserved a card.
private final class ScriptedServer: Sendable {
  static let name = "org.freedesktop.ReserveDevice1.Audio3"
  private static let interface = "org.freedesktop.ReserveDevice1"
  private let bus: BusConnection
  private let told = AsyncStream<[BusValue]>.makeStream()

  /// Arguments of the requests to release the card, in order.
  var requests: AsyncStream<[BusValue]> { told.stream }

  init?(yields: Bool, isReplaceable: Bool = false, address: String) {
    guard let bus = BusConnection(address: address) else { return nil }
    self.bus = bus
    bus.answer("org.freedesktop.DBus.Properties") { message in
      let isName = message.arguments.last == .string("ApplicationName")
      return isName ? [.variant(.string("Music"))] : nil
    }
    let givesUp = yields && !isReplaceable
    bus.answer(Self.interface) { [told, asked, weak bus] message in
      asked.add()
      told.continuation.yield(message.arguments)
      // The bus's own queue cannot wait for itself: the name is given up after the answer.
      if givesUp {
        bus?.call(
          Self.daemon,
          path: Self.path,
          interface: Self.daemon,
          "ReleaseName",
          [.string(Self.name)]
        ) { _ in }
      }
      return [.bool(yields)]
    }
    let flags: UInt32 = isReplaceable ? 1 : 0
    let owned = bus.ask(
      Self.daemon,
      path: Self.path,
      interface: Self.daemon,
      "RequestName",
      [.string(Self.name), .uint32(flags)]
    )
    guard (try? owned.get()) == [.uint32(1)] else { return nil }
  }

  private static let daemon = "org.freedesktop.DBus"
  private static let path = "/org/freedesktop/DBus"
  private let asked = Count()

  /// Number of requests to release the card.
  var count: Int { asked.value }

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

private final class Count: Sendable {
  private let number = Mutex(0)
  var value: Int { number.withLock { $0 } }
  func add() { number.withLock { $0 += 1 } }
}

struct CardReservationTests {
  @Test(.timeLimit(.minutes(10)), arguments: [true, false])
  func soundServerLetsTheCardGo(isReplaceable: Bool) async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let server = try #require(
      ScriptedServer(yields: true, isReplaceable: isReplaceable, address: daemon.address)
    )
    let reservations = CardReservations(address: daemon.address)
    #expect(try reservations.take(card: 3))
    var requests = server.requests.makeAsyncIterator()
    #expect(await requests.next() == [.int32(.max)])
    #expect(server.takesBack() == false)
    // A call does not release its card to another program.
    #expect(try server.ask(for: ScriptedServer.name).get() == [.bool(false)])
    reservations.giveBack(card: 3)
    #expect(server.takesBack() == true)
  }

  @Test func programThatKeepsTheCardIsNamed() throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let server = try #require(ScriptedServer(yields: false, address: daemon.address))
    let reservations = CardReservations(address: daemon.address)
    #expect(throws: CardReservations.Refusal(holder: "Music")) { try reservations.take(card: 3) }
    // Another card is free.
    #expect(try reservations.take(card: 4) == false)
    withExtendedLifetime(server) {}
  }

  private static func card(_ number: Int) -> SoundCard {
    SoundCard(number: number, id: "Card\(number)", name: "", identity: .init(path: "/\(number)"))
  }

  private static let cards = [card(3), card(4)]

  @Test func cardThatIsBeingClosedIsTriedAgain() throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let server = try #require(ScriptedServer(yields: true, address: daemon.address))
    let reserved = ReservedCards(CardReservations(address: daemon.address))
    var attempts = 0
    let busy = AudioDeviceError(kind: .busy, device: "hw:3", operation: "open", reason: "")
    func open() throws(AudioDeviceError) -> Int {
      attempts += 1
      if attempts < 3 { throw busy }
      return attempts
    }
    #expect(try reserved.reserving(.pcm("hw:3"), among: Self.cards, open: open) == 3)
    // A card that is already ours needs no request.
    attempts = 0
    #expect(throws: busy) { try reserved.reserving(.pcm("hw:3"), among: Self.cards, open: open) }
    #expect(attempts == 1)
    withExtendedLifetime(server) {}
  }

  @Test func whoKeepsTheCardIsAskedSeldom() throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let server = try #require(ScriptedServer(yields: false, address: daemon.address))
    let reserved = ReservedCards(CardReservations(address: daemon.address))
    for _ in 0..<20 {
      #expect(throws: AudioDeviceError.self) {
        try reserved.reserving(.pcm("hw:3"), among: Self.cards) { () throws(AudioDeviceError) in
          Issue.record("it is not ours")
        }
      }
    }
    #expect(server.count == 1)
  }

  @Test func cardsOfOtherDevicesAreGivenBack() throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let other = try #require(BusConnection(address: daemon.address))
    let reserved = ReservedCards(CardReservations(address: daemon.address))
    for name in ["hw:3", "plughw:Card4"] {
      try reserved.reserving(.pcm(name), among: Self.cards) { () throws(AudioDeviceError) in }
    }
    try reserved.reserving(.pcm("default"), among: Self.cards) { () throws(AudioDeviceError) in }
    func isOurs(_ number: Int) -> Bool {
      other.owner(of: "org.freedesktop.ReserveDevice1.Audio\(number)") != nil
    }
    #expect(isOurs(3) && isOurs(4))
    reserved.keep([.pcm("hw:Card4,0"), .null], among: Self.cards)
    #expect(!isOurs(3) && isOurs(4))
    // Its number says nothing when it is no longer there.
    reserved.keep([.pcm("hw:Card4,0")], among: [])
    #expect(!isOurs(4))
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

  @Test func cardStaysOursOnARestartedBus() throws {
    guard let daemon = try BusDaemon() else { return }
    let reservations = CardReservations(address: daemon.address)
    try reservations.take(card: 3)
    daemon.stop()
    try daemon.start()
    let other = try #require(BusConnection(address: daemon.address))
    let end = Date(timeIntervalSinceNow: 10)
    while other.owner(of: ScriptedServer.name) == nil, Date() < end {}
    #expect(other.owner(of: ScriptedServer.name) != nil)
    reservations.giveBack(card: 3)
    #expect(other.owner(of: ScriptedServer.name) == nil)
  }

  @Test func withoutABusEveryCardIsFree() throws {
    let reservations = CardReservations(address: "unix:path=/nowhere/bus")
    let wasReleased = try reservations.take(card: 0)
    #expect(!wasReleased)
    reservations.giveBack(card: 0)
    #expect(throws: Never.self) { try reservations.take(card: 0) }
  }
}
