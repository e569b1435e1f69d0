@testable import AVFAudio
import Testing

// Nothing else is imported: Foundation comes along, as on Apple's systems.

/// Members of the session in the words of apps that import this module alone.
struct AppSpellingTests {
  @Test(.timeLimit(.minutes(10))) func notificationsComeAsASequence() async {
    let name = AVAudioSession.interruptionNotification
    let sender = NSObject()
    let own = NotificationCenter()
    var notes = own.notifications(named: name, object: sender).makeAsyncIterator()
    own.post(name: name, object: nil)
    own.post(name: AVAudioSession.routeChangeNotification, object: sender)
    own.post(name: name, object: sender, userInfo: [AVAudioSessionInterruptionTypeKey: UInt(1)])
    let note = await notes.next()
    #expect(note?.userInfo?[AVAudioSessionInterruptionTypeKey] as? UInt == 1)
    let waiting = Task { await own.notifications(named: name).makeAsyncIterator().isOver() }
    waiting.cancel()
    #expect(await waiting.value)
  }

  @Test func hardwareThatIsNotThereAnswersAsAnIPhoneWithoutIt() throws {
    let session = AVAudioSession(bus: nil, arbitratesAll: false)
    #expect(session.promptStyle == .normal && !session.supportsMultichannelContent)
    #expect(session.inputOrientation == .none && session.preferredInputOrientation == .none)
    try session.setPreferredInputOrientation(.portrait)
    try session.setAggregatedIOPreference(.aggregated)
    try session.setSupportsMultichannelContent(true)
    let port = AVAudioSessionPortDescription()
    #expect(port.preferredDataSource == nil && !port.isSpatialAudioEnabled)
    try port.setPreferredDataSource(nil)
    #expect(AVAudioSessionRouteDescription().outputs.isEmpty)
    #expect(AVAudioSession.Port.virtual.rawValue == "Virtual")
    #expect(AVAudioSession.PolarPattern.cardioid != .stereo)
    let player = AVAudioPlayer()
    #expect(player.duration == 0 && !player.isPlaying)
  }
}

extension NotificationCenter.Notifications.AsyncIterator {
  fileprivate consuming func isOver() async -> Bool {
    var iterator = self
    return await iterator.next() == nil
  }
}
