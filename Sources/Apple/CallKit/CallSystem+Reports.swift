import CallState
import DesktopServices
import Foundation
import Synchronization

/// Reports of apps about calls that the system knows.
extension CallSystem {
  func reportIncoming(
    _ uuid: UUID,
    _ update: CXCallUpdate,
    of provider: CXProvider,
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    let crossing = UncheckedTransfer(value: provider)
    let settings = update.settings
    verb { [self] in
      let mailbox = mailbox(of: crossing.value)
      var refusal: CXErrorCodeIncomingCallError?
      do throws(IncomingRefusal) {
        guard let mailbox else { throw .unknownCallProvider }
        try control.reportIncoming(
          CallID(uuid),
          settings,
          of: mailbox.id,
          screening: book.screening(
            of: settings.remoteHandle.value.flatMap { $0 },
            isQuiet: quiet.isOn
          ),
          at: now
        )
      } catch {
        refusal = .init(refusal: error)
      }
      let queue = crossing.value.givenQueue.withLock { $0 } ?? completions
      complete(on: queue, about: [CallID(uuid)], of: mailbox, completion, with: refusal)
    }
  }

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
