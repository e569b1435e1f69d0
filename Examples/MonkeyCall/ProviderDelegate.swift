import AVFoundation
import CallKit

/// Performs the actions of the user and the system, and reports the events of the network.
@MainActor
final class ProviderDelegate: NSObject {
  private let callManager: ActiveCallManager
  private let network: CallNetwork
  private let provider: CXProvider

  private static var configuration: CXProviderConfiguration {
    let configuration = CXProviderConfiguration(localizedName: "MonkeyCall")
    configuration.maximumCallsPerCallGroup = 1
    configuration.supportedHandleTypes = [.phoneNumber, .generic]
    configuration.ringtoneSound = Bundle.module.path(forResource: "monkey", ofType: "wav")
    let icon = Bundle.module.url(forResource: "monkey", withExtension: "png")
    // Without its picture the call is shown all the same.
    configuration.iconTemplateImageData = icon.flatMap { try? Data(contentsOf: $0) }
    return configuration
  }

  init(callManager: ActiveCallManager, network: CallNetwork) {
    self.callManager = callManager
    self.network = network
    provider = CXProvider(configuration: Self.configuration)
    super.init()
    // Without a queue of its own, the delegate is called on the main queue.
    provider.setDelegate(self, queue: nil)
  }

  // MARK: Incoming calls

  /// Shows a call that the network has announced; false if the system refuses it, because its
  /// caller is blocked or the user does not want to be disturbed.
  func reportIncomingCall(_ call: ActiveCall) async -> Bool {
    let update = CXCallUpdate()
    update.remoteHandle = CXHandle(type: .generic, value: call.handle)
    update.hasVideo = false
    do {
      try await provider.reportNewIncomingCall(with: call.uuid, update: update)
    } catch {
      print("The call was not shown: \(error)")
      return false
    }
    // The caller may have given up meanwhile.
    guard !call.connection.hasEnded else {
      provider.reportCall(with: call.uuid, endedAt: nil, reason: .unanswered)
      return true
    }
    follow(call)
    callManager.add(call)
    return true
  }

  /// Ends every call, and performs no further action.
  func invalidate() { provider.invalidate() }

  // MARK: Progress

  private func follow(_ call: ActiveCall) {
    call.startingConnectionChanged = { [unowned self, unowned call] in
      provider.reportOutgoingCall(with: call.uuid, startedConnectingAt: call.startedConnectingOn)
      callManager.callsChanged?()
    }
    call.connectedChanged = { [unowned self, unowned call] in
      if call.isOutgoing {
        provider.reportOutgoingCall(with: call.uuid, connectedAt: call.connectedOn)
      }
      callManager.callsChanged?()
    }
    call.endedByFarSide = { [unowned self, unowned call] in
      call.didEnd()
      let reason: CXCallEndedReason = call.isConnected ? .remoteEnded : .unanswered
      provider.reportCall(with: call.uuid, endedAt: call.endedOn, reason: reason)
      callManager.remove(call)
    }
  }

  private func configureAudioSession() {
    let session = AVAudioSession.sharedInstance()
    do {
      try session.setCategory(.playAndRecord, mode: .voiceChat)
      try session.setPreferredIOBufferDuration(0.005)
    } catch {
      print("The audio session could not be configured: \(error)")
    }
  }
}

// MARK: - Actions

extension ProviderDelegate: @MainActor CXProviderDelegate {
  func providerDidReset(_ provider: CXProvider) {
    for call in callManager.calls {
      call.endCall()
      callManager.remove(call)
    }
  }

  func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
    let call = ActiveCall(
      uuid: action.callUUID,
      handle: action.handle.value,
      isOutgoing: true,
      connection: network.makeConnection()
    )
    configureAudioSession()
    follow(call)
    callManager.add(call)
    Task {
      if await call.startCall() { return action.fulfill() }
      action.fail()
      callManager.remove(call)
    }
  }

  func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
    guard let call = callManager.findCall(action.callUUID) else { return action.fail() }
    configureAudioSession()
    Task { await call.answerCall() ? action.fulfill() : action.fail() }
  }

  func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
    guard let call = callManager.findCall(action.callUUID) else { return action.fail() }
    call.endCall()
    action.fulfill()
    callManager.remove(call)
  }

  func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) {
    guard let call = callManager.findCall(action.callUUID) else { return action.fail() }
    call.setOnHold(action.isOnHold)
    action.fulfill()
    callManager.callsChanged?()
  }

  func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) {
    guard let call = callManager.findCall(action.callUUID) else { return action.fail() }
    call.setMuted(action.isMuted)
    action.fulfill()
    callManager.callsChanged?()
  }

  func provider(_ provider: CXProvider, timedOutPerforming action: CXAction) {
    print("Too late: \(type(of: action))")
  }

  // MARK: Audio

  // Only now may the voice start: the system has activated the session at call priority.
  func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {
    network.startAudio(through: audioSession)
  }

  func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) {
    network.stopAudio()
  }
}
