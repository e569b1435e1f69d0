import AVFAudio
import Foundation

/// Turns the audio session's route changes into events of a phone.
///
/// **Life cycle:** observes from its initialiser until `stop`. **Thread safety:** belongs to the phone.
struct RouteObservation {
  private let token: any NSObjectProtocol

  /// Calls `yield` from any thread.
  init(yield: @escaping @Sendable (PhoneEvent) -> Void) {
    let session = AVAudioSession.sharedInstance()
    token = NotificationCenter.default.addObserver(
      forName: AVAudioSession.routeChangeNotification,
      object: session,
      queue: nil
    ) { note in
      let number = note.userInfo?[AVAudioSessionRouteChangeReasonKey] as? UInt
      guard let reason = number.flatMap(AVAudioSession.RouteChangeReason.init) else { return }
      // The phone's own settings are no news.
      guard reason != .categoryChange else { return }
      let route = session.currentRoute
      yield(
        .routeChanged(
          reason: "\(reason)",
          microphone: route.inputs.first?.uid,
          loudspeaker: route.outputs.first?.uid
        )
      )
    }
  }

  func stop() { NotificationCenter.default.removeObserver(token) }
}
