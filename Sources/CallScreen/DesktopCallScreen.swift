import CallKit
package import CallState
import DesktopBus
import Synchronization

/// Shows calls as desktop notifications with buttons, and carries out what the user presses.
///
/// A user who closes the notification of an incoming call has not declined it: it comes again.
/// **Thread safety:** every method may be called from any thread.
package final class DesktopCallScreen: CallPresenter {
  private static let service = "org.freedesktop.Notifications"
  private static let path = "/org/freedesktop/Notifications"
  /// How a server says that the user closed a notification.
  private static let dismissed: BusValue = .uint32(2)

  private struct Shown: Sendable {
    var note: CallNote
    /// The server's number, nil until it has answered.
    var number: UInt32?
  }

  private let bus: SessionBus
  private let decide: @Sendable (UserDecision) -> Void
  private let callBack: @Sendable (String) -> Void
  private let shown = Mutex<[CallID: Shown]>([:])

  /// A screen on the user's desktop; nil where there is none.
  ///
  /// - Parameters:
  ///   - address: the bus; by default the user's.
  ///   - decide: carries out what the user decided.
  ///   - callBack: calls a handle.
  package init?(
    address: String? = nil,
    decide: @escaping @Sendable (UserDecision) -> Void,
    callBack: @escaping @Sendable (String) -> Void
  ) {
    guard let bus = SessionBus(address: address) else { return nil }
    self.bus = bus
    self.decide = decide
    self.callBack = callBack
    bus.subscribe(to: Self.service) { [weak self] in self?.heard($0) }
  }

  // MARK: CallPresenter

  package func present(_ presentation: CallPresentation) {
    let wanted = CallNote.notes(for: presentation)
    let changes = shown.withLock { shown -> [(CallID, CallNote?, UInt32?)] in
      var changes: [(CallID, CallNote?, UInt32?)] = []
      for (id, entry) in shown where wanted[id] == nil {
        changes.append((id, nil, entry.number))
        shown[id] = nil
      }
      for (id, note) in wanted where shown[id]?.note != note {
        changes.append((id, note, shown[id]?.number))
        shown[id] = Shown(note: note, number: shown[id]?.number)
      }
      return changes
    }
    for (id, note, number) in changes {
      if let note { show(note, replacing: number, as: id) } else if let number { close(number) }
    }
  }

  package func present(ended record: CallRecord) {
    guard let note = CallNote.missed(record) else { return }
    shown.withLock { $0[record.id] = Shown(note: note, number: nil) }
    show(note, replacing: nil, as: record.id)
  }

  // MARK: The server

  private func show(_ note: CallNote, replacing number: UInt32?, as id: CallID) {
    let arguments: [BusValue] = [
      .string("Sidetone"), .uint32(number ?? 0), .string("call-start"), .string(note.summary),
      .string(note.body), .strings(note.buttons.flatMap { [$0.key, $0.label] }),
      .dictionary([
        "urgency": .byte(note.urgency), "category": .string(note.category),
        "resident": .bool(note.isLasting), "suppress-sound": .bool(!note.isLasting),
      ]),
      .int32(note.isLasting ? 0 : -1),
    ]
    bus.call(Self.service, path: Self.path, interface: Self.service, "Notify", arguments) {
      [weak self] answer in
      guard case .success(let values) = answer, case .uint32(let number)? = values.first else {
        return
      }
      self?.wasShown(note, as: id, number)
    }
  }

  private func wasShown(_ note: CallNote, as id: CallID, _ number: UInt32) {
    let isWanted = shown.withLock { shown in
      guard shown[id] != nil else { return false }
      shown[id]?.number = number
      return true
    }
    // The call went while the server was busy.
    if !isWanted { close(number) }
  }

  private func close(_ number: UInt32) {
    bus.call(
      Self.service,
      path: Self.path,
      interface: Self.service,
      "CloseNotification",
      [.uint32(number)]
    ) { _ in }
  }

  private func heard(_ signal: BusMessage) {
    guard case .uint32(let number)? = signal.arguments.first,
      let (id, entry) = shown.withLock({ $0.first { $0.value.number == number } })
    else { return }
    switch (signal.member, signal.arguments.last) {
    case ("ActionInvoked", .string(let key)):
      switch entry.note.buttons.first(where: { $0.key == key })?.deed {
      case .decide(let decision): decide(decision)
      case .callBack(let handle): callBack(handle)
      case nil: break
      }
    case ("NotificationClosed", let reason):
      shown.withLock { $0[id]?.number = nil }
      if entry.note.isLasting, reason == Self.dismissed {
        show(entry.note, replacing: nil, as: id)
      } else if entry.note.category == "call.unanswered" {
        shown.withLock { $0[id] = nil }
      }
    default:
      break
    }
  }
}
