import CallKit
import CallState
import DesktopBus
import Synchronization

/// Shows calls through the XDG desktop portal, where a program in a sandbox finds no other server
/// (`org.freedesktop.portal.Notification`, version 1).
///
/// The portal does not say when the user closes a notification. **Thread safety:** every method may be
/// called from any thread.
final class PortalCallScreen: CallPresenter {
  static let service = "org.freedesktop.portal.Desktop"
  private static let path = "/org/freedesktop/portal/desktop"
  private static let interface = "org.freedesktop.portal.Notification"

  private let bus: SessionBus
  private let deeds: CallNote.Deeds
  private let shown = Mutex<[CallNote.Key: CallNote]>([:])
  /// Nobody says when the user has put a note of a missed call away.
  private let missed = Mutex<[CallNote.Key]>([])
  private static let missedLimit = 50

  init(bus: SessionBus, deeds: CallNote.Deeds) {
    self.bus = bus
    self.deeds = deeds
    bus.subscribe(to: Self.interface) { [weak self] in self?.heard($0) }
  }

  // MARK: CallPresenter

  // The bus keeps the order of what is asked under the lock.
  func present(_ presentation: CallPresentation) {
    let wanted = CallNote.notes(for: presentation)
    shown.withLock { shown in
      for key in shown.keys {
        guard case .call(let id) = key, wanted[id] == nil else { continue }
        shown[key] = nil
        ask("RemoveNotification", [.string(Self.name(of: key))])
      }
      for (id, note) in wanted where shown[.call(id)] != note { show(note, as: .call(id), &shown) }
    }
  }

  func present(ended record: CallRecord) {
    guard let note = CallNote.missed(record) else { return }
    let key = CallNote.Key.missed(record.id)
    let forgotten = missed.withLock { missed -> CallNote.Key? in
      missed.append(key)
      return missed.count > Self.missedLimit ? missed.removeFirst() : nil
    }
    shown.withLock { shown in
      if let forgotten { shown[forgotten] = nil }
      show(note, as: key, &shown)
    }
  }

  // MARK: The portal

  private func show(
    _ note: CallNote,
    as key: CallNote.Key,
    _ shown: inout [CallNote.Key: CallNote]
  ) {
    shown[key] = note
    let buttons = note.buttons.map { button -> [String: BusValue] in
      ["label": .string(button.label), "action": .string(button.key)]
    }
    let content: [String: BusValue] = [
      "title": .string(note.summary), "body": .string(note.body),
      "priority": .string(note.isLasting ? "urgent" : "normal"),
      "buttons": .dictionaries(buttons),
    ]
    ask("AddNotification", [.string(Self.name(of: key)), .dictionary(content)])
  }

  private func ask(_ member: String, _ arguments: [BusValue]) {
    bus.call(
      Self.service,
      path: Self.path,
      interface: Self.interface,
      member,
      arguments
    ) { _ in }
  }

  private func heard(_ signal: BusMessage) {
    guard signal.member == "ActionInvoked", signal.arguments.count >= 2,
      case .string(let name) = signal.arguments[0],
      case .string(let button) = signal.arguments[1],
      let entry = shown.withLock({ $0.first { Self.name(of: $0.key) == name } })
    else { return }
    if case .missed = entry.key { shown.withLock { $0[entry.key] = nil } }
    deeds.press(button, on: entry.value)
  }

  private static func name(of key: CallNote.Key) -> String {
    switch key {
    case .call(let id): "call-\(id.high)-\(id.low)"
    case .missed(let id): "missed-\(id.high)-\(id.low)"
    }
  }
}
