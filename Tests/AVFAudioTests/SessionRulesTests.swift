import ALSAAudio
import Foundation
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
    #expect(code { try session.setActive(false) } == .isBusy)
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
    #expect(throws: (any Error).self) { try session.setActive(true) }
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
}
