import ALSAAudio
import Foundation
import SpeechDSP
import Synchronization
import Testing
import VoiceEngine

@testable import AVFAudio

/// A session over made-up devices: what an app may set, and who has the devices.
struct SessionRulesTests {
  private let session = AVAudioSession()

  init() throws {
    session.devices = .init(capture: .null, playback: .null)
    try session.setCategory(.playAndRecord)
  }

  private func code(_ body: () throws -> Void) -> AVAudioSession.ErrorCode? {
    do {
      try body()
      return nil
    } catch {
      let error = error as NSError
      #expect(error.domain == NSOSStatusErrorDomain)
      #expect(!error.localizedDescription.isEmpty)
      return AVAudioSession.ErrorCode(rawValue: error.code)
    }
  }

  // MARK: Values

  @Test func modesFitTheirCategories() throws {
    try session.setCategory(.playback)
    #expect(!session.availableModes.contains(.voiceChat), "a call's mode needs a microphone")
    #expect(code { try session.setMode(.voiceChat) } == .badParam)
    #expect(session.mode == .default && session.category == .playback, "nothing has changed")
    try session.setCategory(.playAndRecord, mode: .voiceChat)
    #expect(session.mode == .voiceChat)
    try session.setCategory(.playback)
    #expect(session.mode == .default, "a mode that no longer fits gives way")
    for mode in session.availableModes { try session.setMode(mode) }
  }

  /// S2: options last until the category changes.
  @Test func optionsOutliveAChangeOfTheMode() throws {
    try session.setCategory(.playAndRecord, options: [.allowBluetoothA2DP, .duckOthers])
    try session.setMode(.voiceChat)
    #expect(session.categoryOptions.isSuperset(of: [.allowBluetoothA2DP, .duckOthers]))
    try session.setCategory(.playAndRecord, mode: .voiceChat)
    #expect(!session.categoryOptions.contains(.duckOthers))
  }

  /// S6: an override changes the microphone along with the loudspeaker.
  ///
  /// It ends with the session, a call's voice or a change of the category, but not of the mode.
  @Test func anOverrideEndsWithTheSession() async throws {
    let override = SessionState.Override(speaker: .null, microphone: .null)
    func overridden() throws {
      session.devices = .init(capture: .file("/dev/zero"), playback: .null)
      session.changeRoute(because: .override) { $0.override = override }
      #expect(session.state.withLock { $0.devicesAsRouted.capture } == .null)
    }
    try overridden()
    try session.setActive(true)
    try session.setActive(false)
    #expect(session.state.withLock { $0.override } == nil)
    try overridden()
    try await session.activateForCall()
    session.endCall()
    await session.finishOperations()
    #expect(session.state.withLock { $0.override } == nil)
    try overridden()
    try session.setCategory(.playAndRecord)
    #expect(session.state.withLock { $0.override } == nil)
    try overridden()
    try session.setMode(.voiceChat)
    #expect(session.state.withLock { $0.override } == override, "a mode moves nothing")
  }

  @Test func serversAreNoLoudspeakersOfTheMachine() {
    #expect(SessionPort.description(of: .pcm("jack"), .output).portType == .lineOut)
    #expect(SessionPort.description(of: .pcm("jack"), .input).portType == .lineIn)
    #expect(SessionPort.description(of: .pcm("hw:0,0"), .output).portType == .builtInSpeaker)
    for server in ["pipewire", "pulse"] {
      #expect(SessionPort.description(of: .pcm(server), .output).portType == .virtual)
    }
  }

  @Test func whatAMachineDoesNotHaveIsAnsweredSo() async throws {
    #expect(session.renderingMode == .notApplicable && session.inputDataSource == nil)
    #expect(session.maximumInputNumberOfChannels == 1 && !session.isEchoCancelledInputAvailable)
    try session.setInputDataSource(nil)
    try session.setPrefersEchoCancelledInput(true)
    try session.setPrefersInterruptionOnRouteDisconnect(true)
    #expect(session.prefersEchoCancelledInput && session.prefersInterruptionOnRouteDisconnect)
    #expect(try await session.activate())
    #expect(session.renderingMode == .monoStereo)
    #expect(try await session.deactivate(options: .notifyOthersOnDeactivation))
    #expect(AVAudioSession.RouteSharingPolicy.longForm == .longFormAudio)
    #expect(AVAudioSession.CategoryOptions.bluetoothHighQualityRecording.rawValue == 1 << 19)
  }

  @Test func everyCategoryThatIsListedCanBeSet() throws {
    for category in session.availableCategories {
      try session.setCategory(category)
      #expect(session.category == category)
      #expect(session.availableModes.contains(.default))
      #expect((session.availableInputs == nil) == !AVAudioSession.records(category))
    }
  }

  @Test func wishesThatMakeNoSenseAreRefusedAndChangeNothing() throws {
    try session.setPreferredSampleRate(16_000)
    try session.setPreferredIOBufferDuration(0.005)
    for rate in [0, -1, .nan, .infinity] as [Double] {
      #expect(code { try session.setPreferredSampleRate(rate) } == .badParam, "\(rate)")
    }
    for duration in [0, -0.01, .nan, 2] as [Double] {
      #expect(code { try session.setPreferredIOBufferDuration(duration) } == .badParam)
    }
    for count in [0, -1] {
      #expect(code { try session.setPreferredInputNumberOfChannels(count) } == .badParam)
      #expect(code { try session.setPreferredOutputNumberOfChannels(count) } == .badParam)
    }
    #expect(session.preferredSampleRate == 16_000)
    #expect(session.preferredIOBufferDuration == 0.005)
    #expect(code { try session.setInputGain(0.5) } == .badParam && !session.isInputGainSettable)
  }

  @Test func speakerIsOverriddenInCallsAlone() throws {
    try session.setCategory(.playback)
    #expect(code { try session.overrideOutputAudioPort(.speaker) } == .badParam)
    #expect(code { try session.overrideOutputAudioPort(.none) } == .badParam)
  }

  @Test func microphoneThatIsNotThereCannotBePreferred() {
    let unknown = SessionPort.description(of: .pcm("hw:99,0"), .input)
    #expect(code { try session.setPreferredInput(unknown) } == .badParam)
    #expect(session.preferredInput == nil)
  }

  @Test func routeHasTheSidesOfItsCategory() throws {
    #expect(session.currentRoute.inputs.count == 1 && session.currentRoute.outputs.count == 1)
    #expect(session.inputNumberOfChannels == 1 && session.outputNumberOfChannels == 1)
    try session.setCategory(.record)
    #expect(session.currentRoute.outputs.isEmpty && session.outputNumberOfChannels == 0)
    try session.setCategory(.playback)
    #expect(session.currentRoute.inputs.isEmpty && session.inputNumberOfChannels == 0)
  }

  // MARK: Who has the devices

  @Test func appTakesAndReleasesTheDevices() throws {
    #expect(session.voiceEngine == nil)
    try session.setActive(true)
    let engine = try #require(session.voiceEngine)
    try session.setActive(true)
    #expect(session.voiceEngine === engine, "an active session stays as it is")
    try session.setActive(false)
    #expect(session.voiceEngine == nil)
    try session.setActive(false)
  }

  @Test func callTakesOverTheAppsDevicesWithoutAPause() async throws {
    try session.setActive(true)
    let engine = try #require(session.voiceEngine)
    try await session.activateForCall()
    #expect(session.voiceEngine === engine, "the same engine goes on")
    try session.setActive(false)
    #expect(session.voiceEngine === engine, "a call keeps its devices")
    try session.setActive(true)
    session.endCall()
    await session.finishOperations()
    #expect(session.voiceEngine == nil, "the app has to take them again")
    try session.setActive(true)
    #expect(session.voiceEngine != nil)
    try session.setActive(false)
  }

  @Test func callWithOtherWishesGetsDevicesOfItsOwn() async throws {
    try session.setActive(true)
    let engine = try #require(session.voiceEngine)
    try session.setPreferredIOBufferDuration(0.02)
    try await session.activateForCall()
    let other = try #require(session.voiceEngine)
    #expect(other !== engine)
    #expect(abs(session.ioBufferDuration - 0.02) < 0.001)
    session.endCall()
    await session.finishOperations()
  }

  /// A swap deactivates the session and activates it again at once.
  @Test func R91_devicesStayOpenBetweenTwoCalls() async throws {
    try await session.activateForCall()
    let engine = try #require(session.voiceEngine)
    session.deactivateForCall(keepingDevices: true) {}
    #expect(session.voiceEngine == nil)
    try await session.activateForCall()
    #expect(session.voiceEngine === engine)
    session.endCall()
    await session.finishOperations()
    try await session.activateForCall()
    #expect(session.voiceEngine != nil && session.voiceEngine !== engine)
    session.endCall()
    await session.finishOperations()
  }

  @Test func secondCallFindsTheDevicesOfTheFirst() async throws {
    try await session.activateForCall()
    let engine = try #require(session.voiceEngine)
    try await session.activateForCall()
    #expect(session.voiceEngine === engine)
    session.endCall()
    await session.finishOperations()
    #expect(session.voiceEngine == nil)
  }

  @Test func deviceThatDoesNotOpenIsAnErrorAndLeavesNothingBehind() async throws {
    session.devices = .init(capture: .file("/nowhere/x.wav"), playback: .null)
    let error = #expect(throws: NSError.self) { try session.setActive(true) }
    #expect(error?.domain == NSOSStatusErrorDomain)
    #expect(error?.code == AVAudioSession.ErrorCode.resourceNotAvailable.rawValue)
    #expect(error?.localizedDescription.contains("/nowhere/x.wav") == true)
    await #expect(throws: (any Error).self) { try await session.activateForCall() }
    #expect(session.voiceEngine == nil)
    session.devices = .init(capture: .null, playback: .null)
    try await session.activateForCall()
    #expect(session.voiceEngine != nil)
    session.endCall()
    await session.finishOperations()
  }

  @Test func mutedInputStaysMutedInTheNextActivation() async throws {
    session.setInputMuted(true)
    #expect(session.isInputMuted)
    try await session.activateForCall()
    #expect(session.isInputMuted && session.voiceEngine != nil)
    session.endCall()
    await session.finishOperations()
    #expect(session.isInputMuted)
    session.setInputMuted(false)
    #expect(!session.isInputMuted)
  }

  /// The voice goes on, and its delay is that of the filters.
  @Test(.timeLimit(.minutes(10))) func filtersFollowTheModeInMidSession() async throws {
    let session = AVAudioSession(bus: nil, arbitratesAll: false)
    session.devices = .init(capture: .null, playback: .null)
    try session.setCategory(.playAndRecord)
    try session.setActive(true)
    let engine = try #require(session.voiceEngine)
    func waits(forDelay nanoseconds: Int64) async {
      while engine.statistics()?.captureProcessingNanoseconds != nanoseconds { await Task.yield() }
    }
    await waits(forDelay: 0)
    try session.setMode(.voiceChat)
    await waits(forDelay: 5_000_000)
    session.speechFilters = SpeechFilterSettings()
    await waits(forDelay: 0)
    session.speechFilters = nil
    await waits(forDelay: 5_000_000)
    #expect(session.voiceEngine === engine)
    try session.setActive(false)
  }
}
