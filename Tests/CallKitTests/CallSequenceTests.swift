import ALSAIO
import AVFAudio
@testable import CallKit
import Foundation
import Synchronization
import Testing

/// Notes what a provider's delegate is told, and answers actions as an app does.
private final class ScriptedDelegate: NSObject, CXProviderDelegate {
  let log: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  override init() {
    (log, continuation) = AsyncStream.makeStream()
  }

  private func note(_ text: String) {
    let isOpen = AVAudioSession.sharedInstance().voiceEngine != nil
    continuation.yield(text + (isOpen ? " (devices open)" : ""))
  }

  func providerDidReset(_ provider: CXProvider) { note("reset") }
  func providerDidBegin(_ provider: CXProvider) { note("begin") }

  func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
    note("start")
    if action.handle.value == "fails" { action.fail() } else { action.fulfill() }
  }

  func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
    note("answer")
    action.fulfill()
    action.fulfill()
  }

  func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
    note("end")
    action.fulfill()
  }

  func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {
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

/// Apple's classes end to end over the null device: what an app sees, in order.
@Suite(.serialized)
struct CallSequenceTests {
  private func provider(_ delegate: ScriptedDelegate, device: DeviceName = .null) -> CXProvider {
    AVAudioSession.sharedInstance().devices = .init(capture: device, playback: device)
    let provider = CXProvider(configuration: CXProviderConfiguration(localizedName: "test"))
    provider.setDelegate(delegate, queue: DispatchQueue(label: "test"))
    return provider
  }

  private func expect(_ expected: [String], from log: AsyncStream<String>) async {
    var iterator = log.makeAsyncIterator()
    for line in expected { #expect(await iterator.next() == line) }
  }

  @Test func outgoingCallActivatesAfterItsFulfilmentAndReleasesAtItsEnd() async throws {
    let delegate = ScriptedDelegate()
    let provider = provider(delegate)
    let controller = CXCallController()
    let call = UUID()
    try await controller.request(
      CXTransaction(
        action: CXStartCallAction(call: call, handle: CXHandle(type: .generic, value: "bob"))
      )
    )
    await expect(["begin", "start", "didActivate (devices open)"], from: delegate.log)
    provider.reportOutgoingCall(with: call, connectedAt: nil)
    try await controller.request(CXTransaction(action: CXEndCallAction(call: call)))
    await expect(["end (devices open)", "didDeactivate"], from: delegate.log)
    #expect(controller.callObserver.calls.isEmpty)
    provider.invalidate()
  }

  @Test func incomingCallActivatesAfterTheAnswer() async throws {
    let delegate = ScriptedDelegate()
    let provider = provider(delegate)
    let controller = CXCallController()
    let call = UUID()
    try await provider.reportNewIncomingCall(with: call, update: CXCallUpdate())
    #expect(controller.callObserver.calls.map(\.uuid) == [call])
    try await controller.request(CXTransaction(action: CXAnswerCallAction(call: call)))
    await expect(["begin", "answer", "didActivate (devices open)"], from: delegate.log)
    provider.reportCall(with: call, endedAt: nil, reason: .remoteEnded)
    await expect(["didDeactivate"], from: delegate.log)
    provider.invalidate()
  }

  @Test func failedStartActivatesNothing() async throws {
    let delegate = ScriptedDelegate()
    let provider = provider(delegate)
    let controller = CXCallController()
    try await controller.request(
      CXTransaction(
        action: CXStartCallAction(call: UUID(), handle: CXHandle(type: .generic, value: "fails"))
      )
    )
    let second = UUID()
    try await controller.request(
      CXTransaction(
        action: CXStartCallAction(call: second, handle: CXHandle(type: .generic, value: "bob"))
      )
    )
    await expect(
      ["begin", "start", "start", "didActivate (devices open)"],
      from: delegate.log
    )
    provider.reportCall(with: second, endedAt: nil, reason: .failed)
    await expect(["didDeactivate"], from: delegate.log)
    provider.invalidate()
  }

  @Test func unavailableDeviceEndsTheCall() async throws {
    let delegate = ScriptedDelegate()
    let provider = provider(delegate, device: .pcm("no-such-card"))
    let controller = CXCallController()
    try await controller.request(
      CXTransaction(
        action: CXStartCallAction(call: UUID(), handle: CXHandle(type: .generic, value: "bob"))
      )
    )
    await expect(["begin", "start", "failedToActivate", "end"], from: delegate.log)
    provider.invalidate()
  }

  @Test func resetVoidsTheCallAndReleasesTheDevices() async throws {
    let delegate = ScriptedDelegate()
    let provider = provider(delegate)
    let controller = CXCallController()
    try await controller.request(
      CXTransaction(
        action: CXStartCallAction(call: UUID(), handle: CXHandle(type: .generic, value: "bob"))
      )
    )
    await expect(["begin", "start", "didActivate (devices open)"], from: delegate.log)
    CallSystem.shared.reset()
    var told: Set<String> = []
    var log = delegate.log.makeAsyncIterator()
    for _ in 0..<2 { told.insert(await log.next() ?? "") }
    #expect(told.contains("didDeactivate"))
    #expect(told.contains { $0.hasPrefix("reset") })
    #expect(controller.callObserver.calls.isEmpty && provider.pendingTransactions.isEmpty)
    provider.invalidate()
  }

  @Test func refusalsAreTypedErrors() async throws {
    let delegate = ScriptedDelegate()
    let provider = provider(delegate)
    let controller = CXCallController()
    await #expect(throws: CXErrorCodeRequestTransactionError(.unknownCallUUID)) {
      try await controller.request(CXTransaction(action: CXEndCallAction(call: UUID())))
    }
    await #expect(throws: CXErrorCodeRequestTransactionError(.emptyTransaction)) {
      try await controller.request(CXTransaction())
    }
    let call = UUID()
    try await provider.reportNewIncomingCall(with: call, update: CXCallUpdate())
    await #expect(throws: CXErrorCodeIncomingCallError(.callUUIDAlreadyExists)) {
      try await provider.reportNewIncomingCall(with: call, update: CXCallUpdate())
    }
    provider.invalidate()
    await #expect(throws: CXErrorCodeRequestTransactionError(.unknownCallProvider)) {
      try await controller.request(CXTransaction(action: CXEndCallAction(call: call)))
    }
  }
}
