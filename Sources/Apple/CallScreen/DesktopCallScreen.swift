import CallState
import DesktopServices
import Synchronization

/// Shows calls as desktop notifications, and carries out the actions of their buttons.
///
/// A user who closes the notification of an incoming call has not declined it: it comes again.
/// **Thread safety:** every method may be called from any thread.
final class DesktopCallScreen: CallPresenter {
  static let service = "org.freedesktop.Notifications"
  private static let path = "/org/freedesktop/Notifications"
  /// `NotificationClosed` reason of a notification that the user closed.
  private static let dismissed: BusValue = .uint32(2)

  private typealias Key = CallNotification.Key

  private struct Shown: Sendable {
    var note: CallNotification
    /// The server's ID of the notification; nil until it has answered.
    var number: UInt32?
    /// Number of the unanswered `Notify` call; nil if none.
    ///
    /// Changes are sent after the answer.
    var question: Int?
    /// True after the server that showed the notification has gone, until there is one again.
    var isLost = false
  }

  private let desktop: LastingBus
  private let deeds: CallNotification.NotificationActions
  /// Timeout of a `Notify` call, in milliseconds; the server may have to be started first.
  private let patienceMilliseconds: Int
  /// Called once, with the reason why nothing is shown.
  private let cannotShow: @Sendable (_ reason: String) -> Void
  private let hasFailed = Atomic(false)
  private let lastQuestion = Atomic(0)
  private let shown = Mutex<[Key: Shown]>([:])
  private let icons = Mutex<[[UInt8]: IconFile]>([:])

  /// Creates a screen on a bus; the notification server is started when it is needed.
  init(
    on desktop: LastingBus,
    deeds: CallNotification.NotificationActions,
    patienceMilliseconds: Int = 25_000,
    cannotShow: @escaping @Sendable (_ reason: String) -> Void = { _ in }
  ) {
    self.cannotShow = cannotShow
    self.desktop = desktop
    self.deeds = deeds
    self.patienceMilliseconds = patienceMilliseconds
    desktop.whenNew { [weak self] bus in
      bus.subscribe(to: Self.service, of: Self.service) { [weak self] in self?.heard($0) }
      bus.watchNames { [weak self] name, before, after in
        guard name == Self.service else { return }
        self?.noteServer(isGone: !before.isEmpty, isHere: !after.isEmpty)
      }
    }
    // The server of a restarted bus is another one, which may still be starting.
    desktop.whenBack { [weak self] _ in self?.noteServer(isGone: true, isHere: true) }
  }

  // A server that begins anew shows nothing, and its numbers mean others. One that our first
  // question starts was never gone.
  private func noteServer(isGone: Bool, isHere: Bool) {
    let keys = shown.withLock { shown -> [Key] in
      if isGone {
        for key in shown.keys {
          shown[key]?.isLost = true
          shown[key]?.number = nil
        }
      }
      let lost = shown.filter { $0.value.isLost }.keys
      guard isHere else { return [] }
      for key in lost { shown[key]?.isLost = false }
      return lost.filter { if case .call = $0 { true } else { false } }
    }
    for key in keys { ask(for: key) }
  }

  // MARK: CallPresenter

  func present(_ presentation: CallPresentation) {
    let wanted = CallNotification.notes(for: presentation)
    let (changed, closed, used) = shown.withLock { shown -> ([Key], [UInt32], Set<[UInt8]>) in
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
      return (changed, closed, Set(shown.values.compactMap(\.note.icon)))
    }
    for number in closed { close(number) }
    for key in changed { ask(for: key) }
    icons.withLock { $0 = $0.filter { used.contains($0.key) } }
  }

  func present(ended record: CallRecord) {
    guard let note = CallNotification.missed(record, with: deeds) else { return }
    shown.withLock { $0[.missed(record.id)] = Shown(note: note) }
    ask(for: .missed(record.id))
  }

  // MARK: The server

  // One question at a time for each call: the next one needs the number that answers this one.
  private func ask(for key: Key) {
    let question = lastQuestion.add(1, ordering: .relaxed).newValue
    let entry = shown.withLock { shown -> Shown? in
      guard let entry = shown[key], entry.question == nil else { return nil }
      shown[key]?.question = question
      return entry
    }
    guard let entry else { return }
    let note = entry.note
    var hints: [String: BusValue] = [
      "urgency": .byte(note.urgency), "category": .string(note.category),
      "resident": .bool(note.isLasting), "suppress-sound": .bool(!note.isLasting),
    ]
    if let icon = note.icon, let path = path(of: icon) { hints["image-path"] = .string(path) }
    let arguments: [BusValue] = [
      .string(note.app), .uint32(entry.number ?? 0), .string("call-start"),
      .string(note.summary), .string(Self.plain(note.body)),
      .strings(note.buttons.flatMap { [$0.key, $0.label] }),
      .dictionary(hints),
      .int32(note.isLasting ? 0 : -1),
    ]
    desktop.current?.call(
      Self.service,
      path: Self.path,
      interface: Self.service,
      "Notify",
      arguments,
      waiting: patienceMilliseconds,
      whenLate: { [weak self] values in
        if let number = Self.number(in: values) { self?.answeredLate(note, for: key, number) }
      },
      completion: { [weak self] answer in
        var number: UInt32?
        switch answer {
        case .success(let values): number = Self.number(in: values)
        case .failure(let error): self?.noteFailure(error)
        }
        self?.answered(question, with: note, for: key, number)
      }
    )
  }

  private func noteFailure(_ error: BusError) {
    guard !hasFailed.exchange(true, ordering: .relaxed) else { return }
    cannotShow("the desktop shows no notification: \(error)")
  }

  private static func number(in values: [BusValue]) -> UInt32? {
    if case .uint32(let number)? = values.first { number } else { nil }
  }

  private func answered(
    _ question: Int,
    with note: CallNotification,
    for key: Key,
    _ number: UInt32?
  ) {
    let (isWanted, isCurrent) = shown.withLock { shown in
      // It may have gone and come again meanwhile, and be asked for once more.
      guard shown[key]?.question == question else { return (false, true) }
      shown[key]?.question = nil
      // What could not be changed still shows what it did.
      if let number { shown[key]?.number = number }
      return (true, shown[key]?.note == note)
    }
    // The call went, or changed, while the server was busy.
    if !isWanted, let number { close(number) }
    if !isCurrent, number != nil { ask(for: key) }
  }

  // A server or a bus that stood still shows what it was asked for long ago.
  private func answeredLate(_ note: CallNotification, for key: Key, _ number: UInt32) {
    let (isWanted, isCurrent) = shown.withLock { shown in
      guard let entry = shown[key] else { return (false, true) }
      if entry.number == nil, entry.question == nil { shown[key]?.number = number }
      // Else it is shown once more by another question.
      guard shown[key]?.number == number else { return (false, true) }
      return (true, entry.note == note)
    }
    if !isWanted { close(number) }
    if !isCurrent { ask(for: key) }
  }

  private func path(of icon: [UInt8]) -> String? {
    icons.withLock { icons in
      if icons[icon] == nil { icons[icon] = IconFile(icon) }
      return icons[icon]?.path
    }
  }

  // A caller chooses this text, and the server may read markup in it.
  private static func plain(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }

  private func close(_ number: UInt32) {
    desktop.current?.call(
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
      deeds.press(button, on: entry.note)
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
