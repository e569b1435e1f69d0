import BusFixture
@testable import CallKit
@testable import CallScreen
import CallState
import DesktopServices
import Foundation
import Synchronization
import Testing

@Suite(.serialized)
struct DesktopCallScreenTests {
  @Test func callsAppearAreReplacedAndGoAndButtonsDecide() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let server = try #require(NotificationServer(address: daemon.address))
    let presses = Presses()
    let screen = try presses.screen(on: daemon)
    var log = server.log.makeAsyncIterator()
    var decided = presses.decided.makeAsyncIterator()

    var calls = RingingCalls()
    let call = CallID(high: 0, low: 7)
    try calls.ring(call, name: "Alice <b>")
    screen.present(calls.control.presentation)
    let incoming = #"["Answer", "Decline"] string("call.incoming")"#
    #expect(await log.next() == "show 1 Incoming call: Alice &lt;b&gt; \(incoming)")

    // Closing it is not declining: it comes again.
    server.dismiss(1)
    #expect(await log.next() == "show 2 Incoming call: Alice &lt;b&gt; \(incoming)")
    // Another program of the bus presses nothing.
    let stranger = try #require(BusConnection(address: daemon.address))
    stranger.emit(
      path: NotificationServer.path,
      interface: NotificationServer.name,
      "ActionInvoked",
      [.uint32(2), .string("decline")]
    )
    #expect(stranger.hasService(NotificationServer.name), "the bus has taken it")
    server.press("answer", on: 2)
    let decision = try #require(await decided.next())
    #expect(decision == .incoming(call, .answer))

    calls.control.decide(decision, at: calls.now)
    calls.fulfil()
    screen.present(calls.control.presentation)
    #expect(
      await log.next()
        == #"show 2 In call: Alice &lt;b&gt; ["Hang Up", "Hold"] string("call.ongoing")"#
    )
    server.press("end", on: 2)
    #expect(await decided.next() == .end(call))
    _ = calls.hangUp(call)
    screen.present(calls.control.presentation)
    #expect(await log.next()?.hasPrefix("close") == true)
  }

  @Test func theAppsIconIsShownIfItIsAPNG() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let server = try #require(NotificationServer(address: daemon.address))
    let screen = try Presses().screen(on: daemon)
    var log = server.log.makeAsyncIterator()
    let picture: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]
    var calls = RingingCalls(icon: picture)
    let call = CallID(high: 0, low: 7)
    try calls.ring(call, name: "Alice")
    screen.present(calls.control.presentation)
    #expect(await log.next() == "icon \(picture)")
    #expect(await log.next()?.hasPrefix("show 1") == true)
    _ = calls.hangUp(call)
    screen.present(calls.control.presentation)
    #expect(await log.next()?.hasPrefix("close") == true)

    calls = RingingCalls(icon: Array("no picture".utf8))
    try calls.ring(call, name: "Alice")
    screen.present(calls.control.presentation)
    #expect(await log.next()?.hasPrefix("show 2") == true)
  }

  @Test(.timeLimit(.minutes(10)))
  func callsAreShownAgainOnARestartedBus() async throws {
    guard let daemon = try BusDaemon() else { return }
    let server = try #require(NotificationServer(address: daemon.address))
    let presses = Presses()
    let screen = try presses.screen(on: daemon)
    var calls = RingingCalls()
    let call = CallID(high: 0, low: 7)
    try calls.ring(call, handle: "sip:eve@host")
    screen.present(calls.control.presentation)
    var log = server.log.makeAsyncIterator()
    #expect(await log.next()?.hasPrefix("show 1 Incoming call") == true)
    daemon.stop()
    try daemon.start()
    let another = try #require(NotificationServer(address: daemon.address))
    var anew = another.log.makeAsyncIterator()
    #expect(await anew.next()?.hasPrefix("show 1 Incoming call") == true)
    var decided = presses.decided.makeAsyncIterator()
    another.press("decline", on: 1)
    #expect(await decided.next() == .incoming(call, .decline))
  }

  @Test func callsAreShownAgainByAServerThatBeginsAnew() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    var server = NotificationServer(address: daemon.address)
    let presses = Presses()
    let screen = try presses.screen(on: daemon)
    var calls = RingingCalls()
    let call = CallID(high: 0, low: 7)
    try calls.ring(call, handle: "sip:eve@host")
    screen.present(calls.control.presentation)
    var log = server?.log.makeAsyncIterator()
    #expect(await log?.next()?.hasPrefix("show 1 Incoming call") == true)
    server = nil
    // The bus learns of it a little later.
    let bus = try #require(BusConnection(address: daemon.address))
    for _ in 0..<10_000 where bus.owner(of: NotificationServer.name) != nil { await Task.yield() }
    let another = try #require(NotificationServer(address: daemon.address))
    var again = another.log.makeAsyncIterator()
    #expect(await again.next()?.hasPrefix("show 1 Incoming call") == true)
    _ = calls.hangUp(call)
    screen.present(calls.control.presentation)
    #expect(await again.next()?.hasPrefix("close") == true)
  }

  @Test func missedCallTakesThePlaceOfTheIncomingOne() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let server = try #require(NotificationServer(address: daemon.address))
    let presses = Presses()
    let screen = try presses.screen(on: daemon)
    var calls = RingingCalls()
    let call = CallID(high: 0, low: 7)
    try calls.ring(call, handle: "sip:eve@host")
    screen.present(calls.control.presentation)
    for record in calls.hangUp(call) { screen.present(ended: record) }
    screen.present(calls.control.presentation)
    var log = server.log.makeAsyncIterator()
    var lines: [String] = []
    for _ in 0..<3 { lines.append(await log.next() ?? "") }
    #expect(lines.contains { $0.hasPrefix("show 1 Incoming call") })
    #expect(lines.contains { $0.hasPrefix("close [DesktopServices.BusValue.uint32(1)]") })
    let missed = try #require(lines.first { $0.contains("Missed call: sip:eve@host") })
    #expect(missed.contains("Call Back") && missed.contains("call.unanswered"))
    server.press("callBack", on: 2)
    var calledBack = presses.calledBack.makeAsyncIterator()
    #expect(await calledBack.next() == "sip:eve@host")
  }

  /// A call screen on a bus that is suspended, so that nothing is answered.
  private func frozen(
    _ daemon: BusDaemon,
    patienceMilliseconds: Int
  ) throws -> (screen: DesktopCallScreen, bus: BusConnection) {
    let desktop = LastingBus(address: daemon.address)
    let bus = try #require(desktop.bus)
    let screen = DesktopCallScreen(
      on: desktop,
      deeds: .init(decide: { _ in }, callBack: { _ in }),
      patienceMilliseconds: patienceMilliseconds
    )
    daemon.freeze()
    return (screen, bus)
  }

  // What was asked of a bus that hangs is done once it goes on.
  @Test(.timeLimit(.minutes(10)), arguments: [false, true])
  func callThatEndsWhileTheBusHangsIsTakenAway(isGivenUp: Bool) async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let server = try #require(NotificationServer(address: daemon.address))
    let (screen, bus) = try frozen(daemon, patienceMilliseconds: isGivenUp ? 50 : 25_000)
    var calls = RingingCalls()
    let call = CallID(high: 0, low: 7)
    try calls.ring(call, handle: "sip:eve@host")
    screen.present(calls.control.presentation)
    _ = calls.hangUp(call)
    screen.present(calls.control.presentation)
    // Returns once the bus's queue has given up what was asked before.
    if isGivenUp { bus.answer("org.example.Nothing") { _ in nil } }
    daemon.thaw()
    var log = server.log.makeAsyncIterator()
    #expect(await log.next()?.hasPrefix("show 1 Incoming call") == true)
    #expect(await log.next() == "close [DesktopServices.BusValue.uint32(1)]")
  }

  @Test(.timeLimit(.minutes(10)))
  func callThatStandsAfterTheBusHasHungIsTakenAwayAtItsEnd() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let server = try #require(NotificationServer(address: daemon.address))
    let (screen, bus) = try frozen(daemon, patienceMilliseconds: 50)
    var calls = RingingCalls()
    let call = CallID(high: 0, low: 7)
    try calls.ring(call, handle: "sip:eve@host")
    screen.present(calls.control.presentation)
    bus.answer("org.example.Nothing") { _ in nil }
    daemon.thaw()
    var log = server.log.makeAsyncIterator()
    #expect(await log.next()?.hasPrefix("show 1 Incoming call") == true)
    _ = calls.hangUp(call)
    screen.present(calls.control.presentation)
    #expect(await log.next() == "close [DesktopServices.BusValue.uint32(1)]")
  }

  @Test(.timeLimit(.minutes(10)))
  func callThatGoesAndComesWhileTheBusHangsIsShownOnce() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let server = try #require(NotificationServer(address: daemon.address))
    let (screen, _) = try frozen(daemon, patienceMilliseconds: 25_000)
    var calls = RingingCalls()
    let call = CallID(high: 0, low: 7)
    try calls.ring(call, handle: "sip:eve@host")
    screen.present(calls.control.presentation)
    screen.present(RingingCalls().control.presentation)
    screen.present(calls.control.presentation)
    daemon.thaw()
    var log = server.log.makeAsyncIterator()
    #expect(await log.next()?.hasPrefix("show 1 Incoming call") == true)
    #expect(await log.next()?.hasPrefix("show 2 Incoming call") == true)
    #expect(await log.next() == "close [DesktopServices.BusValue.uint32(1)]")
    _ = calls.hangUp(call)
    screen.present(calls.control.presentation)
    #expect(await log.next() == "close [DesktopServices.BusValue.uint32(2)]")
  }

  @Test func withoutABusThereIsNoScreen() {
    let screen = Desktop.callScreen(
      address: "unix:path=/nonexistent/bus",
      decide: { _ in },
      callBack: { _ in }
    )
    #expect(screen == nil)
  }
}
