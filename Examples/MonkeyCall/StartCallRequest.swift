import CallKit
import Intents

/// A person to call, as a link or the list of recent calls names them.
struct StartCallRequest {
  let handle: String
  let isVideo: Bool

  /// Creates a request from a link of the app's own: `monkeycall://bob@192.168.1.20`.
  init?(url: URL) {
    guard url.scheme == "monkeycall", let host = url.host, !host.isEmpty else { return nil }
    let place = url.port.map { "\(host):\($0)" } ?? host
    handle = url.user.map { "\($0)@\(place)" } ?? place
    isVideo = false
  }

  /// Creates a request from a call that the user chose from the recent ones, or asked for aloud.
  init?(activity: NSUserActivity) {
    let known = [
      INStartCallIntentIdentifier, INStartAudioCallIntentIdentifier,
      INStartVideoCallIntentIdentifier,
    ]
    guard known.contains(activity.activityType), let intent = activity.interaction?.intent else {
      return nil
    }
    let person: INPerson?
    switch intent {
    case let intent as INStartCallIntent:
      person = intent.contacts?.first
      isVideo = intent.callCapability == .videoCall
    case let intent as INStartAudioCallIntent:
      person = intent.contacts?.first
      isVideo = false
    case let intent as INStartVideoCallIntent:
      person = intent.contacts?.first
      isVideo = true
    default:
      return nil
    }
    guard let handle = person?.personHandle?.value else { return nil }
    self.handle = handle
  }
}
