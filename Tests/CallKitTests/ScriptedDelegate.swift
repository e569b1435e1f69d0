import CallSystemFixture
import ALSAAudio
import AVFAudio
@testable import CallKit
import Foundation
import Synchronization
import Testing

/// Suites that share the process's one call system and audio session, run one after the other.
@Suite(.serialized, .ownsCallSystem) enum ProcessWideTests {}

/// Records a provider's delegate callbacks, and answers actions as an app does.
// SAFETY: the stream is Sendable, the actions are behind a mutex.
final class ScriptedDelegate: NSObject, CXProviderDelegate, @unchecked Sendable {
  let log: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation
  private let answers: Answers
  private let kept = Mutex<[UncheckedTransfer<CXAction>]>([])

  enum Answers { case atOnce, never, twice }

  init(answering answers: Answers = .atOnce) {
    self.answers = answers
    (log, continuation) = AsyncStream.makeStream()
  }

  /// The actions that came, in order.
  var actions: [CXAction] { kept.withLock { $0 }.map(\.value) }

  func note(_ text: String) {
    let isOpen = AVAudioSession.sharedInstance().voiceEngine != nil
    continuation.yield(text + (isOpen ? " (devices open)" : ""))
  }

  private func take(_ action: CXAction, _ text: String) {
    let crossing = UncheckedTransfer(value: action)
    kept.withLock { $0.append(crossing) }
    note(text)
    guard answers != .never else { return }
    action.fulfill()
    if answers == .twice { action.fail() }
  }

  func providerDidReset(_ provider: CXProvider) { note("reset") }
  func providerDidBegin(_ provider: CXProvider) { note("begin") }

  func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
    take(action, "start")
  }

  func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
    take(action, "answer")
  }

  func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
    take(action, "end")
  }

  func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) {
    take(action, action.isOnHold ? "hold" : "resume")
  }

  func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {
    #expect(audioSession === AVAudioSession.sharedInstance())
    note("didActivate")
  }

  func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) {
    note("didDeactivate")
  }

  func provider(
    _ provider: CXProvider,
    failedToActivate audioSession: AVAudioSession,
    error: any Error
  ) {
    note("failedToActivate")
  }
}

/// A provider over the null device, its delegate, and a controller.
struct Stage {
  let delegate: ScriptedDelegate
  let provider: CXProvider
  let controller = CXCallController()

  init(
    answering answers: ScriptedDelegate.Answers = .atOnce,
    groups: Int = 2,
    device: DeviceName = .null
  ) {
    AVAudioSession.sharedInstance().devices = .init(capture: device, playback: device)
    let configuration = CXProviderConfiguration(localizedName: "test")
    configuration.maximumCallGroups = groups
    delegate = ScriptedDelegate(answering: answers)
    provider = CXProvider(configuration: configuration)
    provider.setDelegate(delegate, queue: DispatchQueue(label: "test"))
  }

  func start(_ call: UUID) async throws {
    let action = CXStartCallAction(call: call, handle: CXHandle(type: .generic, value: "bob"))
    try await controller.request(CXTransaction(action: action))
  }

  func request(_ actions: CXAction...) async throws {
    try await controller.request(CXTransaction(actions: actions))
  }

  /// Waits for the next callbacks, and expects these texts for them.
  func expect(_ expected: String..., location: SourceLocation = #_sourceLocation) async {
    var iterator = delegate.log.makeAsyncIterator()
    for line in expected {
      let found = await iterator.next()
      #expect(found == line, sourceLocation: location)
    }
  }
}
