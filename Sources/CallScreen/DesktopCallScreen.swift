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

  private enum Key: Hashable, Sendable {
    case call(CallID)
    case missed(CallID)
  }

  private struct Shown: Sendable {
    var note: CallNote
    /// The server's number, nil until it has answered.
    var number: UInt32?
    /// True while the server is being asked: what changes meanwhile is asked for afterwards.
    var isAsked = false
  }

  private let bus: SessionBus
  private let decide: @Sendable (UserDecision) -> Void
  private let callBack: @Sendable (String) -> Void
  private let shown = Mutex<[Key: Shown]>([:])

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
    let (changed, closed) = shown.withLock { shown -> ([Key], [UInt32]) in
      var closed: [UInt32] = []
      for (key, entry) in shown {
        guard case .call(let id) = key, wanted[id] == nil else { continue }
        if let number = entry.number { closed.append(number) }
        shown[key] = nil
      }
      var changed: [Key] = []
      for (id, note) in wanted where shown[.call(id)]?.note != note {
        shown[.call(id), default: Shown(note: note)].note = note
        changed.append(.call(id))
      }
      return (changed, closed)
    }
    for number in closed { close(number) }
    for key in changed { ask(for: key) }
  }

  package func present(ended record: CallRecord) {
    guard let note = CallNote.missed(record) else { return }
    shown.withLock { $0[.missed(record.id)] = Shown(note: note) }
    ask(for: .missed(record.id))
  }

  // MARK: The server

  // One question at a time for each call: the next one needs the number that answers this one.
  private func ask(for key: Key) {
    let entry = shown.withLock { shown -> Shown? in
      guard let entry = shown[key], !entry.isAsked else { return nil }
      shown[key]?.isAsked = true
      return entry
    }
    guard let entry else { return }
    let note = entry.note
    let arguments: [BusValue] = [
      .string("Sidetone"), .uint32(entry.number ?? 0), .string("call-start"),
      .string(note.summary), .string(note.body),
      .strings(note.buttons.flatMap { [$0.key, $0.label] }),
      .dictionary([
        "urgency": .byte(note.urgency), "category": .string(note.category),
        "resident": .bool(note.isLasting), "suppress-sound": .bool(!note.isLasting),
      ]),
      .int32(note.isLasting ? 0 : -1),
    ]
    bus.call(Self.service, path: Self.path, interface: Self.service, "Notify", arguments) {
      [weak self] answer in
      var number: UInt32?
      if case .success(let values) = answer, case .uint32(let given)? = values.first {
        number = given
      }
      self?.answered(note, for: key, number)
    }
  }

  private func answered(_ note: CallNote, for key: Key, _ number: UInt32?) {
    let (isWanted, isCurrent) = shown.withLock { shown in
      guard shown[key] != nil else { return (false, true) }
      shown[key]?.isAsked = false
      shown[key]?.number = number
      return (true, shown[key]?.note == note)
    }
    // The call went, or changed, while the server was busy.
    if !isWanted, let number { close(number) }
    if !isCurrent, number != nil { ask(for: key) }
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
      let (key, entry) = shown.withLock({ $0.first { $0.value.number == number } })
    else { return }
    switch (signal.member, signal.arguments.last) {
    case ("ActionInvoked", .string(let button)):
      switch entry.note.buttons.first(where: { $0.key == button })?.deed {
      case .decide(let decision): decide(decision)
      case .callBack(let handle): callBack(handle)
      case nil: break
      }
    case ("NotificationClosed", let reason):
      shown.withLock { $0[key]?.number = nil }
      if case .missed = key {
        shown.withLock { $0[key] = nil }
      } else if entry.note.isLasting, reason == Self.dismissed {
        ask(for: key)
      }
    default:
      break
    }
  }
}
