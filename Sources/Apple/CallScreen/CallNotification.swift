import CallState
import Localization

/// A notification about a call, as the desktop is to show it.
///
/// Categories, urgencies and hints are those of the Desktop Notifications Specification.
struct CallNotification: Equatable, Sendable {
  /// Action of a button.
  enum Deed: Equatable, Sendable {
    case decide(UserDecision)
    /// Details with a handle.
    case callBack(CallDetails)
  }

  struct Button: Equatable, Sendable {
    let key: String
    let label: String
    let deed: Deed
  }

  /// Identity of a notification; each is shown at most once.
  enum Key: Hashable, Sendable {
    case call(CallID)
    case missed(CallID)
  }

  /// Functions that carry out the actions of buttons.
  struct NotificationActions: Sendable {
    let decide: @Sendable (UserDecision) -> Void
    let callBack: @Sendable (CallDetails) -> Void
    /// Returns false while no app can call back.
    var offersCallBack: @Sendable () -> Bool = { true }

    func press(_ key: String, on note: CallNotification) {
      switch note.buttons.first(where: { $0.key == key })?.deed {
      case .decide(let decision): decide(decision)
      case .callBack(let details): callBack(details)
      case nil: break
      }
    }
  }

  /// Name of the app.
  let app: String
  let summary: String
  /// Display name of the remote party, plain text: a caller may choose it.
  let body: String
  let category: String
  /// Urgency: 0 low, 1 normal, 2 critical.
  let urgency: UInt8
  let buttons: [Button]
  /// True to show the notification until it is withdrawn, again if the user closes it.
  let isLasting: Bool
  /// PNG file with the app's icon; nil for the system's.
  var icon: [UInt8]?

  /// Returns the notifications of the presented calls: of the incoming one that has the screen, and
  /// of every call that is not ringing.
  static func notes(for presentation: CallPresentation) -> [CallID: CallNotification] {
    var notes: [CallID: CallNotification] = [:]
    for entry in presentation.calls {
      if entry.id == presentation.incoming {
        notes[entry.id] = incoming(entry, presentation.choices)
      } else if entry.phase != .ringing {
        let others = presentation.calls.filter {
          $0.id != entry.id && !$0.isOnHold && $0.phase != .ringing
            && ($0.group == nil || $0.group != entry.group)
        }
        notes[entry.id] = ongoing(
          entry,
          mayResume: others.allSatisfy(\.details.supportsHolding)
        )
      }
    }
    return notes
  }

  private static func incoming(
    _ entry: CallPresentation.Entry,
    _ choices: [AnswerChoice]
  ) -> CallNotification {
    CallNotification(
      app: entry.app,
      summary: summary(String(localized: "Incoming call"), entry),
      body: entry.details.displayName,
      category: "call.incoming",
      urgency: 2,
      buttons: choices.map { choice in
        Button(
          key: "\(choice)",
          label: label(of: choice),
          deed: .decide(.incoming(entry.id, choice))
        )
      },
      isLasting: true,
      icon: entry.icon
    )
  }

  // Not in the body: a caller chooses his name himself, and may call himself encrypted.
  private static func summary(_ state: String, _ entry: CallPresentation.Entry) -> String {
    entry.remark.map { "\(state), \(String(localizedReason: $0))" } ?? state
  }

  // A call is resumed only if the active call can be held.
  private static func ongoing(
    _ entry: CallPresentation.Entry,
    mayResume: Bool
  ) -> CallNotification {
    var buttons = [
      Button(key: "end", label: String(localized: "Hang Up"), deed: .decide(.end(entry.id)))
    ]
    if entry.phase == .connected, entry.details.supportsHolding, mayResume || !entry.isOnHold {
      let deed = CallNotification.Deed.decide(
        entry.isOnHold ? .swap(to: entry.id) : .setHeld(entry.id, true)
      )
      let label = entry.isOnHold ? String(localized: "Resume") : String(localized: "Hold")
      buttons.append(Button(key: "hold", label: label, deed: deed))
    }
    let state =
      switch entry.phase {
      case .connected: entry.isOnHold ? String(localized: "On hold") : String(localized: "In call")
      case .answering: String(localized: "Connecting")
      default: String(localized: "Calling")
      }
    return CallNotification(
      app: entry.app,
      summary: summary(state, entry),
      body: entry.details.displayName,
      category: "call.ongoing",
      urgency: 0,
      buttons: buttons,
      isLasting: false,
      icon: entry.icon
    )
  }

  /// The notification of a missed call; nil for other calls.
  static func missed(
    _ record: CallRecord,
    with actions: NotificationActions
  ) -> CallNotification? {
    guard record.result == .missed else { return nil }
    let hasHandle = record.details.remoteHandle?.value.isEmpty == false
    let mayCallBack = hasHandle && record.canBeCalledBack && actions.offersCallBack()
    let callBack = Button(
      key: "callBack",
      label: String(localized: "Call Back"),
      deed: .callBack(record.details)
    )
    return CallNotification(
      app: record.app,
      summary: String(localized: "Missed call"),
      body: record.details.displayName,
      category: "call.unanswered",
      urgency: 1,
      buttons: mayCallBack ? [callBack] : [],
      isLasting: false,
      icon: record.icon
    )
  }

  private static func label(of choice: AnswerChoice) -> String {
    switch choice {
    case .answer: String(localized: "Answer")
    case .holdAndAnswer: String(localized: "Hold & Answer")
    case .endAndAnswer: String(localized: "End & Answer")
    case .endHeldAndAnswer: String(localized: "End Held & Answer")
    case .decline: String(localized: "Decline")
    }
  }
}
