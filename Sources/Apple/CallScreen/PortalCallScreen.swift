import CallState
import DesktopServices
import Synchronization

/// Shows calls through the XDG desktop portal, where a program in a sandbox finds no other server
/// (`org.freedesktop.portal.Notification`, version 1).
///
/// The portal does not say when the user closes a notification. **Thread safety:** every method may
/// be called from any thread.
final class PortalCallScreen: CallPresenter {
  static let service = "org.freedesktop.portal.Desktop"
  private static let path = "/org/freedesktop/portal/desktop"
  private static let interface = "org.freedesktop.portal.Notification"

  private let desktop: LastingBus
  private let deeds: CallNotification.NotificationActions
  private let notes = Mutex(Notes())

  private struct Notes {
    var shown: [CallNotification.Key: CallNotification] = [:]
    /// Missed calls, oldest first.
    ///
    /// The portal does not report that the user dismissed a notification, so the oldest is dropped
    /// beyond `missedLimit`.
    var missed: [CallNotification.Key] = []
    static let missedLimit = 50
  }

  /// A screen on a bus.
  init(on desktop: LastingBus, deeds: CallNotification.NotificationActions) {
    self.desktop = desktop
    self.deeds = deeds
    desktop.whenNew { [weak self] bus in
      bus.subscribe(to: Self.interface, of: Self.service) { [weak self] in self?.heard($0) }
    }
    desktop.whenBack { [weak self] _ in self?.showAgain() }
  }

  // The portal of a restarted bus shows nothing.
  private func showAgain() {
    notes.withLock { notes in
      for (key, note) in notes.shown {
        if case .call = key { show(note, as: key) }
      }
    }
  }

  // MARK: CallPresenter

  // The bus keeps the order of what is asked under the lock.
  func present(_ presentation: CallPresentation) {
    let wanted = CallNotification.notes(for: presentation)
    notes.withLock { notes in
      for key in notes.shown.keys {
        guard case .call(let id) = key, wanted[id] == nil else { continue }
        notes.shown[key] = nil
        ask("RemoveNotification", [.string(Self.name(of: key))])
      }
      for (id, note) in wanted where notes.shown[.call(id)] != note {
        notes.shown[.call(id)] = note
        show(note, as: .call(id))
      }
    }
  }

  func present(ended record: CallRecord) {
    guard let note = CallNotification.missed(record, with: deeds) else { return }
    let key = CallNotification.Key.missed(record.id)
    notes.withLock { notes in
      notes.shown[key] = note
      notes.missed.append(key)
      if notes.missed.count > Notes.missedLimit { notes.shown[notes.missed.removeFirst()] = nil }
      show(note, as: key)
    }
  }

  // MARK: The portal

  private func show(_ note: CallNotification, as key: CallNotification.Key) {
    let buttons = note.buttons.map { button -> [String: BusValue] in
      ["label": .string(button.label), "action": .string(button.key)]
    }
    var content: [String: BusValue] = [
      "title": .string(note.summary), "body": .string(note.body),
      "priority": .string(note.isLasting ? "urgent" : "normal"),
      "buttons": .dictionaries(buttons),
    ]
    if let icon = note.icon {
      content["icon"] = .structure([.string("bytes"), .variant(.bytes(icon))])
    }
    ask("AddNotification", [.string(Self.name(of: key)), .dictionary(content)])
  }

  private func ask(_ member: String, _ arguments: [BusValue]) {
    desktop.current?.call(
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
      let entry = notes.withLock({ $0.shown.first { Self.name(of: $0.key) == name } })
    else { return }
    if case .missed = entry.key { notes.withLock { $0.shown[entry.key] = nil } }
    deeds.press(button, on: entry.value)
  }

  private static func name(of key: CallNotification.Key) -> String {
    switch key {
    case .call(let id): "call-\(id.high)-\(id.low)"
    case .missed(let id): "missed-\(id.high)-\(id.low)"
    }
  }
}
