import AVFAudio
import Foundation
import Synchronization
import Testing

/// The microphone of the whole app, which is one for the process.
@Suite(.serialized)
struct AudioApplicationTests {
  private final class News: Sendable {
    let states = Mutex<[Bool]>([])
  }

  @Test func muteIsToldAndMayBeRefused() throws {
    let application = AVAudioApplication.shared
    let news = News()
    let token = NotificationCenter.default.addObserver(
      forName: AVAudioApplication.inputMuteStateChangeNotification,
      object: application,
      queue: nil
    ) { note in
      let isMuted = note.userInfo?[AVAudioApplication.muteStateKey] as? Bool
      news.states.withLock { $0.append(isMuted ?? false) }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try application.setInputMuted(true)
    try application.setInputMuted(true)
    #expect(application.isInputMuted && news.states.withLock { $0 } == [true])
    try application.setInputMuteStateChangeHandler { _ in false }
    #expect(throws: (any Error).self) { try application.setInputMuted(false) }
    #expect(application.isInputMuted)
    try application.setInputMuteStateChangeHandler(nil)
    try application.setInputMuted(false)
    #expect(!application.isInputMuted && news.states.withLock { $0 } == [true, false])
  }
}
