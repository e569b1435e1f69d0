import AVFAudio
import Foundation

/// Turns the audio session's notifications into events of a phone.
///
/// **Life cycle:** observes from its initialiser until `stop`. **Thread safety:** belongs to the
/// phone.
struct RouteObservation {
  private let tokens: [any NSObjectProtocol]

  /// Begins to observe; `yield` is called on any thread.
  init(yield: @escaping @Sendable (PhoneEvent) -> Void) {
    let session = AVAudioSession.sharedInstance()
    func observe(
      _ name: Notification.Name,
      _ event: @escaping @Sendable (Notification) -> PhoneEvent?
    ) -> any NSObjectProtocol {
      NotificationCenter.default.addObserver(forName: name, object: session, queue: nil) { note in
        if let event = event(note) { yield(event) }
      }
    }
    tokens = [
      observe(AVAudioSession.routeChangeNotification) { Self.change(note: $0, session) },
      observe(AVAudioSession.mediaServicesWereLostNotification) { _ in .mediaServicesLost },
      observe(AVAudioSession.mediaServicesWereResetNotification) { _ in .mediaServicesReset },
    ]
  }

  private static func change(note: Notification, _ session: AVAudioSession) -> PhoneEvent? {
    let number = note.userInfo?[AVAudioSessionRouteChangeReasonKey] as? UInt
    guard let reason = number.flatMap(AVAudioSession.RouteChangeReason.init) else { return nil }
    // The phone's own settings are no news.
    guard reason != .categoryChange else { return nil }
    let route = session.currentRoute
    return .routeChanged(
      reason: "\(reason)",
      microphone: route.inputs.first?.uid,
      loudspeaker: route.outputs.first?.uid
    )
  }

  func stop() { tokens.forEach(NotificationCenter.default.removeObserver) }
}
