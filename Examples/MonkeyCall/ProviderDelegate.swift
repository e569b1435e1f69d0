import AVFoundation
import CallKit

/// Performs what the user and the system want, and reports what the network does.
final class ProviderDelegate: NSObject {
  private let provider: CXProvider
  private let activeCalls: ActiveCalls
  private let line: any CallLine

  static var configuration: CXProviderConfiguration {
    let configuration = CXProviderConfiguration(localizedName: "MonkeyCall")
    configuration.maximumCallsPerCallGroup = 1
    configuration.supportedHandleTypes = [.phoneNumber, .generic]
    configuration.ringtoneSound = "monkey.caf"
    return configuration
  }

  init(activeCalls: ActiveCalls, line: any CallLine) {
    self.activeCalls = activeCalls
    self.line = line
    provider = CXProvider(configuration: Self.configuration)
    super.init()
    provider.setDelegate(self, queue: nil)
  }

  // MARK: What the network tells

  func reportIncomingCall(_ call: ActiveCall, completion: @escaping @Sendable (Bool) -> Void) {
    let update = CXCallUpdate()
    update.remoteHandle = CXHandle(type: .generic, value: call.handle)
    update.hasVideo = false
    provider.reportNewIncomingCall(with: call.uuid, update: update) { error in
      switch (error as NSError?)?.code {
      case nil: break
      case CXErrorCodeIncomingCallError.filteredByBlockList.rawValue: print("A blocked caller.")
      case CXErrorCodeIncomingCallError.filteredByDoNotDisturb.rawValue: print("Not now.")
      default: print("The call could not be shown: \(String(describing: error))")
      }
      completion(error == nil)
    }
  }

  func reportStartedConnecting(_ call: ActiveCall) {
    call.didStartConnecting()
    provider.reportOutgoingCall(with: call.uuid, startedConnectingAt: call.startedConnectingDate)
  }

  func reportConnected(_ call: ActiveCall) {
    call.didConnect()
    guard call.isOutgoing else { return }
    provider.reportOutgoingCall(with: call.uuid, connectedAt: call.connectDate)
  }

  func reportEnded(_ call: ActiveCall, reason: CXCallEndedReason) {
    call.didEnd()
    provider.reportCall(with: call.uuid, endedAt: call.endDate, reason: reason)
    activeCalls.remove(call)
  }
}

// MARK: - CXProviderDelegate

extension ProviderDelegate: CXProviderDelegate {
  func providerDidReset(_ provider: CXProvider) {
    for call in activeCalls.calls { call.end() }
    activeCalls.removeAll()
  }

  func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
    let call = ActiveCall(
      uuid: action.callUUID,
      isOutgoing: true,
      handle: action.handle.value,
      line: line
    )
    configureAudioSession()
    activeCalls.add(call)
    call.start { [activeCalls] isSent in
      if isSent { return action.fulfill() }
      activeCalls.remove(call)
      action.fail()
    }
  }

  func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
    guard let call = activeCalls.call(with: action.callUUID) else { return action.fail() }
    configureAudioSession()
    call.answer { $0 ? action.fulfill() : action.fail() }
  }

  func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
    guard let call = activeCalls.call(with: action.callUUID) else { return action.fail() }
    call.stopAudio()
    call.end()
    activeCalls.remove(call)
    action.fulfill()
  }

  func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) {
    guard let call = activeCalls.call(with: action.callUUID) else { return action.fail() }
    if action.isOnHold { call.stopAudio() }
    call.setHeld(action.isOnHold)
    action.fulfill()
  }

  func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) {
    guard let call = activeCalls.call(with: action.callUUID) else { return action.fail() }
    call.setMuted(action.isMuted)
    action.fulfill()
  }

  func provider(_ provider: CXProvider, timedOutPerforming action: CXAction) {
    print("Too late: \(type(of: action))")
  }

  func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {
    for call in activeCalls.calls { call.startAudio() }
  }

  func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) {
    for call in activeCalls.calls { call.stopAudio() }
  }

  private func configureAudioSession() {
    let session = AVAudioSession.sharedInstance()
    do {
      try session.setCategory(.playAndRecord, mode: .voiceChat)
      try session.setPreferredIOBufferDuration(0.005)
    } catch {
      print("The audio session could not be set: \(error)")
    }
  }
}
