import BusFixture
@testable import CallKit
@testable import CallScreen
import CallState
import DesktopServices
import Testing

/// A portal of the test's own on a real bus.
private final class Portal: Sendable {
  static let name = "org.freedesktop.portal.Desktop"
  private static let path = "/org/freedesktop/portal/desktop"
  private static let interface = "org.freedesktop.portal.Notification"

  /// Requests of programs, in order.
  ///
  /// They are `add ID TITLE: BODY [BUTTON ...] PRIORITY` and `remove ID`; `icon BYTES` comes before
  /// an `add` with an icon.
  let log: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation
  private let bus: BusConnection

  init?(address: String) {
    (log, continuation) = AsyncStream.makeStream()
    guard let bus = BusConnection(address: address) else { return nil }
    self.bus = bus
    let isServing = bus.serve(Self.name, interface: Self.interface) { [weak self] in
      self?.answer($0)
    }
    guard isServing else { return nil }
  }

  private func answer(_ message: BusMessage) -> [BusValue]? {
    guard case .string(let id)? = message.arguments.first else { return nil }
    switch (message.member, message.arguments.last) {
    case ("AddNotification", .dictionary(let content)):
      guard case .string(let title)? = content["title"], case .string(let body)? = content["body"],
        case .string(let priority)? = content["priority"],
        case .dictionaries(let buttons)? = content["buttons"]
      else { return nil }
      let labels = buttons.compactMap { button -> String? in
        if case .string(let label)? = button["label"] { label } else { nil }
      }
      if case .structure(let fields)? = content["icon"], fields.first == .string("bytes"),
        case .bytes(let icon)? = fields.last
      {
        continuation.yield("icon \(icon)")
      }
      continuation.yield("add \(id) \(title): \(body) \(labels) \(priority)")
      return []
    case ("RemoveNotification", _):
      continuation.yield("remove \(id)")
      return []
    default:
      return nil
    }
  }

  func press(_ button: String, on id: String) {
    let arguments: [BusValue] = [.string(id), .string(button), .strings([])]
    bus.emit(path: Self.path, interface: Self.interface, "ActionInvoked", arguments)
  }
}

@Suite(.serialized)
struct PortalCallScreenTests {
  @Test func whereThereIsNoOtherServerCallsAppearThroughThePortal() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let portal = try #require(Portal(address: daemon.address))
    let presses = Presses()
    let screen = try presses.screen(on: daemon)
    var log = portal.log.makeAsyncIterator()
    var decided = presses.decided.makeAsyncIterator()
    var callsBack = presses.calledBack.makeAsyncIterator()

    var calls = RingingCalls()
    let call = CallID(high: 0, low: 7)
    try calls.ring(call, name: "<Alice>", handle: "sip:alice@host")
    screen.present(calls.control.presentation)
    screen.present(calls.control.presentation)
    #expect(
      await log.next() == #"add call-0-7 Incoming call: <Alice> ["Answer", "Decline"] urgent"#
    )
    portal.press("answer", on: "call-0-7")
    let decision = try #require(await decided.next())
    #expect(decision == .incoming(call, .answer))
    calls.control.decide(decision, at: calls.now)
    calls.fulfil()
    screen.present(calls.control.presentation)
    #expect(await log.next() == #"add call-0-7 In call: <Alice> ["Hang Up", "Hold"] normal"#)
    _ = calls.hangUp(call)
    screen.present(calls.control.presentation)
    #expect(await log.next() == "remove call-0-7")

    try calls.ring(call, handle: "sip:eve@host")
    for record in calls.hangUp(call) { screen.present(ended: record) }
    #expect(await log.next() == #"add missed-0-7 Missed call: sip:eve@host ["Call Back"] normal"#)
    portal.press("callBack", on: "missed-0-7")
    #expect(await callsBack.next() == "sip:eve@host")

    calls = RingingCalls(icon: [1, 2, 3])
    try calls.ring(call, name: "Bob")
    screen.present(calls.control.presentation)
    #expect(await log.next() == "icon [1, 2, 3]")
  }
}
