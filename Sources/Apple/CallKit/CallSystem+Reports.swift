import CallState
import Foundation

/// Reports of apps about calls that the system knows.
extension CallSystem {
  func reportUpdated(_ uuid: UUID, _ update: CXCallUpdate, of provider: CXProvider) {
    let settings = update.settings
    report(of: provider) { control, id, _ in control.update(CallID(uuid), settings, of: id) }
  }

  func reportConnecting(_ uuid: UUID, of provider: CXProvider, at date: Date?) {
    report(of: provider) { control, id, now in
      control.reportConnecting(CallID(uuid), of: id, at: date.map { CallDate($0) } ?? now.date)
    }
  }

  func reportConnected(_ uuid: UUID, of provider: CXProvider, at date: Date?) {
    report(of: provider) { control, id, now in
      control.reportConnected(CallID(uuid), of: id, at: date.map { CallDate($0) } ?? now.date)
    }
  }

  func reportEnded(
    _ uuid: UUID,
    of provider: CXProvider,
    at date: Date?,
    reason: CXCallEndedReason
  ) {
    report(of: provider) { control, id, now in
      control.reportEnded(
        CallID(uuid),
        of: id,
        reason: EndedReason(rawValue: reason.rawValue) ?? .failed,
        date: date.map { CallDate($0) },
        at: now
      )
    }
  }
}
