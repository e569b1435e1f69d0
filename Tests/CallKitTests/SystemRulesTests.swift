import CallSystemFixture
import ALSAAudio
import AVFAudio
@testable import CallKit
import CallScreen
import CallState
import Foundation
import Synchronization
import Testing

extension ProcessWideTests {
  /// The system's part: call screens, queues, observers, intents, and what it does not do.
  @Suite struct SystemRulesTests {
    init() async { await CallSystemOwnership.settle() }

    /// A call screen whose user takes every call.
    private final class ScriptedScreen: CallPresenter {
      let log: AsyncStream<String>
      private let continuation: AsyncStream<String>.Continuation

      init() { (log, continuation) = AsyncStream.makeStream() }

      func present(_ presentation: CallPresentation) {
        let calls = presentation.calls.map { "\($0.details.displayName) \($0.phase)" }
        continuation.yield(
          calls.joined(separator: ", ") + (presentation.isRinging ? ", rings" : "")
        )
        guard let incoming = presentation.incoming, let choice = presentation.choices.first else {
          return
        }
        CallScreens.decide(.incoming(incoming, choice))
      }

      func present(ended record: CallRecord) {
        continuation.yield("over: \(record.result)")
      }
    }

    @Test func R35_R45_userTakesTheCallOnTheScreen() async throws {
      let stage = Stage()
      let screen = ScriptedScreen()
      CallScreens.add(screen)
      defer { CallScreens.remove(screen) }
      let update = CXCallUpdate()
      update.localizedCallerName = "Eve"
      let call = UUID()
      try await stage.provider.reportNewIncomingCall(with: call, update: update)
      await stage.expect("begin", "answer", "didActivate (devices open)")
      stage.provider.reportCall(with: call, endedAt: nil, reason: .remoteEnded)
      await stage.expect("didDeactivate")
      var log = screen.log.makeAsyncIterator()
      var lines: [String] = []
      while lines.last != "over: talked" { lines.append(await log.next() ?? "over: talked") }
      #expect(
        lines == ["", "Eve ringing, rings", "Eve answering", "Eve connected", "over: talked"]
      )
      stage.provider.invalidate()
    }

    @Test func R26_delegateIsWeakAndRunsOnTheMainQueueUnlessToldOtherwise() async throws {
      final class Quiet: NSObject, CXProviderDelegate {
        let isMain = AsyncStream<Bool>.makeStream()
        let key = DispatchSpecificKey<Bool>()
        func providerDidReset(_ provider: CXProvider) {}
        func providerDidBegin(_ provider: CXProvider) {
          isMain.continuation.yield(DispatchQueue.getSpecific(key: key) == true)
        }
      }
      let provider = CXProvider(configuration: CXProviderConfiguration())
      weak var former: Quiet?
      do {
        let delegate = Quiet()
        former = delegate
        DispatchQueue.main.setSpecific(key: delegate.key, value: true)
        provider.setDelegate(delegate, queue: nil)
        var iterator = delegate.isMain.stream.makeAsyncIterator()
        #expect(await iterator.next() == true)
      }
      // The calls that retained the delegate, and its callback, have returned.
      _ = CXCallObserver().calls
      await withCheckedContinuation { told in DispatchQueue.main.async { told.resume() } }
      #expect(former == nil)
      provider.invalidate()
    }

    @Test func R83_R86_systemSendsNoMuteAndTranslatesNothing() async throws {
      let stage = Stage()
      let call = UUID()
      try await stage.start(call)
      // An end that is asked for before would leave nothing to start.
      await stage.expect("begin", "start", "didActivate (devices open)")
      stage.provider.reportOutgoingCall(with: call, connectedAt: nil)
      await #expect(throws: CXErrorCodeRequestTransactionError(.invalidAction)) {
        try await stage.request(
          CXSetTranslatingCallAction(
            call: call,
            isTranslating: true,
            localLanguage: "en",
            remoteLanguage: "cs"
          )
        )
      }
      try await stage.request(CXEndCallAction(call: call))
      await stage.expect("end (devices open)", "didDeactivate")
      #expect(!stage.delegate.actions.contains { $0 is CXSetMutedCallAction })
      stage.provider.invalidate()
    }

    @Test func R94_R99_activationIsNoInterruptionAndHasTheSharedSession() async throws {
      let interruptions = Mutex(0)
      let token = NotificationCenter.default.addObserver(
        forName: AVAudioSession.interruptionNotification,
        object: nil,
        queue: nil
      ) { _ in interruptions.withLock { $0 += 1 } }
      defer { NotificationCenter.default.removeObserver(token) }
      // The delegate itself compares the session's identity.
      let stage = Stage()
      let call = UUID()
      try await stage.start(call)
      await stage.expect("begin", "start", "didActivate (devices open)")
      stage.provider.reportCall(with: call, endedAt: nil, reason: .remoteEnded)
      await stage.expect("didDeactivate")
      #expect(interruptions.withLock { $0 } == 0)
      stage.provider.invalidate()
    }

    @Test func R87_sessionIsSetUpInPerformAndNotActivatedByTheApp() async throws {
      final class Caller: NSObject, CXProviderDelegate {
        let log = AsyncStream<AVAudioSession.Mode>.makeStream()
        func providerDidReset(_ provider: CXProvider) {}
        func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
          let session = AVAudioSession.sharedInstance()
          #expect(throws: Never.self) {
            try session.setCategory(.playAndRecord, mode: .voiceChat)
            try session.setPreferredIOBufferDuration(0.02)
          }
          #expect(session.voiceEngine == nil)
          action.fulfill()
        }
        func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {
          #expect(audioSession.voiceEngine != nil)
          #expect(abs(audioSession.ioBufferDuration - 0.02) < 0.001)
          log.continuation.yield(audioSession.mode)
        }
      }
      AVAudioSession.sharedInstance().devices = .init(capture: .null, playback: .null)
      let delegate = Caller()
      let provider = CXProvider(configuration: CXProviderConfiguration())
      provider.setDelegate(delegate, queue: DispatchQueue(label: "delegate"))
      let action = CXStartCallAction(call: UUID(), handle: CXHandle(type: .generic, value: "b"))
      try await CXCallController().request(CXTransaction(action: action))
      var modes = delegate.log.stream.makeAsyncIterator()
      #expect(await modes.next() == .voiceChat)
      provider.invalidate()
      try AVAudioSession.sharedInstance().setCategory(.soloAmbient)
      try AVAudioSession.sharedInstance().setPreferredIOBufferDuration(0.0025)
    }

    @Test func R89_answeredCallHasItsDevicesAfterTheFulfilmentOnly() async throws {
      let stage = Stage(answering: .never)
      let call = UUID()
      try await stage.provider.reportNewIncomingCall(with: call, update: CXCallUpdate())
      try await stage.request(CXAnswerCallAction(call: call))
      // A note that is taken while a device is open says so.
      await stage.expect("begin", "answer")
      #expect(stage.controller.callObserver.calls.first?.hasConnected == false)
      #expect(AVAudioSession.sharedInstance().voiceEngine == nil)
      stage.delegate.actions.first?.fulfill()
      await stage.expect("didActivate (devices open)")
      #expect(stage.controller.callObserver.calls.first?.hasConnected == true)
      stage.provider.invalidate()
    }

    @Test func R103_observedCallIsTheAppsOwnAndNobodyElsesCanBeTouched() async throws {
      let stage = Stage(answering: .never)
      let call = UUID()
      try await stage.start(call)
      #expect(stage.controller.callObserver.calls.map(\.uuid) == [call])
      await #expect(throws: CXErrorCodeRequestTransactionError(.unknownCallUUID)) {
        try await stage.request(CXSetHeldCallAction(call: UUID(), onHold: true))
      }
      stage.provider.invalidate()
    }

    @Test func R100_newObserverKnowsTheCallsThatLive() async throws {
      let stage = Stage(answering: .never)
      let call = UUID()
      try await stage.provider.reportNewIncomingCall(with: call, update: CXCallUpdate())
      #expect(CXCallObserver().calls.map(\.uuid) == [call])
      stage.provider.reportCall(with: call, endedAt: nil, reason: .remoteEnded)
      #expect(CXCallObserver().calls.isEmpty)
      stage.provider.invalidate()
    }
  }
}
