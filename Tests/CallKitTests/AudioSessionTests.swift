import CallSystemFixture
import ALSAAudio
@testable import AVFAudio
import CallKit
import Foundation
import Synchronization
import Testing
import VoiceEngine

/// Route changes that a session announces, as texts in their order.
private struct RouteChanges {
  let texts: AsyncStream<String>
  private let token: any NSObjectProtocol

  init(
    of session: AVAudioSession,
    describing describe:
      @escaping @Sendable (_ reason: UInt, _ previous: AVAudioSessionRouteDescription) -> String
  ) {
    let (texts, continuation) = AsyncStream<String>.makeStream()
    self.texts = texts
    token = NotificationCenter.default.addObserver(
      forName: AVAudioSession.routeChangeNotification,
      object: session,
      queue: nil
    ) { note in
      let reason = note.userInfo?[AVAudioSessionRouteChangeReasonKey] as? UInt
      let previous = note.userInfo?[AVAudioSessionRouteChangePreviousRouteKey]
      guard let reason, let previous = previous as? AVAudioSessionRouteDescription else {
        Issue.record("a route change without its reason or its former route")
        return
      }
      continuation.yield(describe(reason, previous))
    }
  }

  func stop() { NotificationCenter.default.removeObserver(token) }
}

extension ProcessWideTests {
  /// The audio session's own rules, and those between it and calls.
  @Suite struct AudioSessionTests {
    private let session = AVAudioSession.sharedInstance()

    init() async throws {
      await CallSystemOwnership.settle()
      session.devices = .init(capture: .null, playback: .null)
      try session.setCategory(.soloAmbient)
    }

    @Test func S1_S2_settingTheCategoryDiscardsOptions() throws {
      #expect(session.category == .soloAmbient && session.mode == .default)
      #expect(session.categoryOptions.isEmpty)
      try session.setCategory(.playAndRecord, mode: .default, options: [.allowBluetooth])
      #expect(session.categoryOptions == .allowBluetooth)
      try session.setMode(.measurement)
      #expect(session.categoryOptions == .allowBluetooth && session.category == .playAndRecord)
      try session.setCategory(.playAndRecord, options: .defaultToSpeaker)
      #expect(session.categoryOptions == .defaultToSpeaker && session.mode == .measurement)
    }

    @Test func S3_someOptionsAndModesImplyOthers() throws {
      try session.setCategory(.playAndRecord, mode: .videoChat, options: [.duckOthers])
      #expect(
        session.categoryOptions
          == [.duckOthers, .mixWithOthers, .allowBluetooth, .defaultToSpeaker]
      )
      #expect(
        AVAudioSession.CategoryOptions.interruptSpokenAudioAndMixWithOthers.contains(.mixWithOthers)
      )
    }

    @Test func S4_whatDoesNotFitThrowsAndChangesNothing() throws {
      try session.setCategory(.playAndRecord, mode: .voiceChat)
      for attempt: () throws -> Void in [
        { try session.setCategory(.playback, mode: .voiceChat) },
        { try session.setCategory(.playback, options: .defaultToSpeaker) },
        { try session.setCategory(.soloAmbient, options: .mixWithOthers) },
      ] {
        do {
          try attempt()
          Issue.record("accepted")
        } catch let error as NSError {
          #expect(error.domain == NSOSStatusErrorDomain && error.code == -50)
        }
      }
      #expect(session.category == .playAndRecord && session.mode == .voiceChat)
    }

    @Test func S5_wishesAreKeptAndWhatWasGrantedIsRead() throws {
      try session.setPreferredSampleRate(44_100)
      try session.setPreferredIOBufferDuration(0.005)
      #expect(session.preferredSampleRate == 44_100 && session.preferredIOBufferDuration == 0.005)
      try session.setActive(true)
      #expect(session.sampleRate == 48_000, "the virtual device has one rate")
      #expect(session.ioBufferDuration > 0 && session.ioBufferDuration < 0.02)
      try session.setActive(false)
      #expect(throws: (any Error).self) { try session.setPreferredSampleRate(0) }
      #expect(throws: (any Error).self) { try session.setPreferredIOBufferDuration(-1) }
      try session.setPreferredSampleRate(48_000)
      try session.setPreferredIOBufferDuration(0.0025)
    }

    @Test func S6_overrideNeedsPlayAndRecordAndEndsWithTheCategory() throws {
      #expect(throws: (any Error).self) { try session.overrideOutputAudioPort(.speaker) }
      try session.setCategory(.playAndRecord)
      try session.overrideOutputAudioPort(.speaker)
      #expect(session.currentRoute.outputs.first?.portType == .builtInSpeaker)
    }

    @Test func S7_routeChangeIsToldOnceOffTheMainThreadWithReasonAndFormerRoute() async throws {
      // What was posted before this test is not its business.
      session.notifications.sync {}
      let changes = RouteChanges(of: session) { reason, previous in
        "\(reason), \(previous.inputs.count) inputs before, main \(Thread.isMainThread)"
      }
      defer { changes.stop() }
      try session.setCategory(.playAndRecord)
      // The same route, hence no notification.
      try session.setCategory(.playAndRecord, mode: .voiceChat)
      try session.setCategory(.playback)
      var iterator = changes.texts.makeAsyncIterator()
      #expect(await iterator.next() == "3, 0 inputs before, main false")
      #expect(await iterator.next() == "3, 1 inputs before, main false")
    }

    @Test func S12_preferredInputMustExist() throws {
      try session.setCategory(.playAndRecord)
      let inputs = try #require(session.availableInputs)
      try session.setPreferredInput(inputs.first)
      #expect(session.preferredInput == inputs.first)
      #expect(session.currentRoute.inputs == [inputs[0]])
      try session.setPreferredInput(nil)
      #expect(session.preferredInput == nil)
    }

    @Test(.timeLimit(.minutes(10)))
    func devicesThatChangeInARunningSessionMoveTheVoice() async throws {
      let file = FileManager.default.temporaryDirectory
        .appendingPathComponent("moved-\(UUID().uuidString).wav")
      defer { try? FileManager.default.removeItem(at: file) }
      let session = AVAudioSession()
      session.devices = .init(capture: .null, playback: .null)
      try session.setCategory(.playAndRecord)
      session.notifications.sync {}
      let changes = RouteChanges(of: session) { reason, previous in
        "\(reason), \(previous.outputs.map(\.uid)) before"
      }
      defer { changes.stop() }
      try session.setActive(true)
      let engine = try #require(session.voiceEngine)
      session.devices = .init(capture: .null, playback: .file(file.path))
      var iterator = changes.texts.makeAsyncIterator()
      let override = AVAudioSession.RouteChangeReason.override.rawValue
      #expect(await iterator.next() == "\(override), [\"null\"] before")
      #expect(session.currentRoute.outputs.map(\.uid) == ["file:\(file.path)"])
      #expect(session.voiceEngine === engine, "the voice went on")
      session.devices = .init(capture: .null, playback: .null)
      #expect(await iterator.next() == "\(override), [\"file:\(file.path)\"] before")
      try session.setActive(false)
      #expect(FileManager.default.fileExists(atPath: file.path))
    }

    @Test func currentRouteNamesTheDevices() throws {
      session.devices = .init(capture: .pcm("hw:CARD=Headset"), playback: .pcm("plughw:1,0"))
      try session.setCategory(.playAndRecord)
      #expect(session.currentRoute.inputs.map(\.uid) == ["hw:CARD=Headset"])
      #expect(session.currentRoute.inputs.map(\.portType) == [.headsetMic])
      #expect(session.currentRoute.outputs.map(\.uid) == ["plughw:1,0"])
      try session.setCategory(.playback)
      #expect(session.currentRoute.inputs.isEmpty && session.availableInputs == nil)
    }

    @Test func callHasTheFiltersOfItsModeThoughTheAppWasThereBefore() async throws {
      try session.setActive(true)
      let before = try #require(session.voiceEngine)
      try session.setCategory(.playAndRecord, mode: .voiceChat)
      let stage = Stage()
      let call = UUID()
      try await stage.start(call)
      await stage.expect(
        "begin (devices open)",
        "start (devices open)",
        "didActivate (devices open)"
      )
      let engine = try #require(session.voiceEngine)
      #expect(engine === before)
      while engine.statistics()?.captureProcessingNanoseconds != 5_000_000 { await Task.yield() }
      stage.provider.reportCall(with: call, endedAt: nil, reason: .remoteEnded)
      await stage.expect("didDeactivate")
      // As it is wished for already, it is taken over.
      try session.setActive(true)
      let mine = try #require(session.voiceEngine)
      try await stage.start(UUID())
      await stage.expect("start (devices open)", "didActivate (devices open)")
      #expect(session.voiceEngine === mine)
      stage.provider.invalidate()
    }

    @Test func inputThatIsNoLongerPreferredLeavesTheAppsDevices() throws {
      let own = AVAudioSession.Devices(capture: .pcm("hw:7,0"), playback: .null)
      session.devices = own
      try session.setCategory(.playAndRecord)
      let port = try #require(session.availableInputs?.first)
      try session.setPreferredInput(port)
      try session.setPreferredInput(nil)
      #expect(session.devices == own)
    }

    @Test func R95_R96_R97_callOwnsTheSession() async throws {
      let stage = Stage()
      let call = UUID()
      try await stage.start(call)
      await stage.expect("begin", "start", "didActivate (devices open)")
      try session.setActive(true)
      try session.setActive(false)
      #expect(session.voiceEngine != nil, "the call's session was taken away")
      #expect(!session.currentRoute.inputs.isEmpty, "a call records whatever was set")
      try await stage.request(CXSetHeldCallAction(call: call, onHold: true))
      await stage.expect("hold (devices open)", "didDeactivate")
      do {
        try session.setActive(true)
        Issue.record("taken while a call is held")
      } catch let error as NSError {
        #expect(error.code == 561_017_449)
      }
      stage.provider.reportCall(with: call, endedAt: nil, reason: .remoteEnded)
      _ = stage.controller.callObserver.calls
      try session.setActive(false, options: .notifyOthersOnDeactivation)
      try session.setActive(true)
      try session.setActive(false)
      stage.provider.invalidate()
    }

    @Test func S13_permissionIsGranted() async {
      let isGranted = await withCheckedContinuation { continuation in
        session.requestRecordPermission { continuation.resume(returning: $0) }
      }
      #expect(isGranted && session.recordPermission == .granted)
      #expect(AVAudioApplication.shared.recordPermission == .granted)
    }

    @Test func valuesAreApples() {
      #expect(
        AVAudioSession.Category.playAndRecord.rawValue == "AVAudioSessionCategoryPlayAndRecord"
      )
      #expect(AVAudioSession.Mode.default.rawValue == "AVAudioSessionModeDefault")
      #expect(AVAudioSession.PortOverride.speaker.rawValue == 1_936_747_378)
      #expect(AVAudioSession.InterruptionType.began.rawValue == 1)
      #expect(AVAudioSession.RouteChangeReason.routeConfigurationChange.rawValue == 8)
      #expect(AVAudioSession.Port.bluetoothA2DP.rawValue == "BluetoothA2DPOutput")
      #expect(AVAudioSession.ErrorCode.insufficientPriority.rawValue == 561_017_449)
      #expect(
        AVAudioSession.interruptionNotification.rawValue == "AVAudioSessionInterruptionNotification"
      )
    }
  }
}
