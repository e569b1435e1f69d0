import AVFoundation
import CallKit
import Intents

/// Stands in for the app's own network, which stays what it is on iOS.
@MainActor
final class Network {
  /// Called when the far side has answered.
  var answered: ((UUID) -> Void)?

  /// Sends an invitation; false if it could not be sent.
  func invite(_ handle: String, for call: UUID) async -> Bool {
    print("Network: inviting \(handle)")
    Task {
      try? await Task.sleep(for: .seconds(1))
      answered?(call)
    }
    return true
  }

  /// Accepts an invitation; false if the far side has gone.
  func accept(_ call: UUID) async -> Bool {
    print("Network: accepting")
    return true
  }

  func hangUp(_ call: UUID) {
    print("Network: hanging up")
  }

  /// Sends and plays voice, through an engine that runs until `stopVoice`.
  func startVoice(through session: AVAudioSession) {
    print("Network: voice on, engine \(session.voiceEngine == nil ? "missing" : "running")")
  }

  func stopVoice() {
    print("Network: voice off")
  }
}

/// Performs what the user and the system want, and reports what the network does.
@MainActor
final class ProviderDelegate: NSObject {
  private let network: Network
  private let provider: CXProvider
  private let (ends, end) = AsyncStream<Void>.makeStream()

  init(network: Network) {
    self.network = network
    let configuration = CXProviderConfiguration(localizedName: "Monkey")
    configuration.supportedHandleTypes = [.generic]
    provider = CXProvider(configuration: configuration)
    super.init()
    // Without a queue of its own, the delegate is called on the main queue.
    provider.setDelegate(self, queue: nil)
    network.answered = { [unowned self] call in
      self.provider.reportOutgoingCall(with: call, connectedAt: nil)
      print("Connected")
    }
  }

  /// Shows a call that the network has announced; false if the system refuses it.
  func reportIncomingCall(_ call: UUID, from handle: String) async -> Bool {
    let update = CXCallUpdate()
    update.remoteHandle = CXHandle(type: .generic, value: handle)
    update.hasVideo = false
    do {
      try await provider.reportNewIncomingCall(with: call, update: update)
      print("Incoming call from \(handle)")
      return true
    } catch {
      print("The call is not shown: \(error)")
      return false
    }
  }

  /// Reports that the far side has ended a call; no action follows.
  func reportFarSideHungUp(_ call: UUID) {
    provider.reportCall(with: call, endedAt: nil, reason: .remoteEnded)
    print("The far side hung up")
  }

  /// Returns when a call has ended.
  func waitForEnd() async {
    for await _ in ends { return }
  }

  func invalidate() { provider.invalidate() }

  private func configureAudioSession() {
    do {
      try AVAudioSession.sharedInstance().setCategory(.playAndRecord, mode: .voiceChat)
    } catch {
      print("The audio session could not be configured: \(error)")
    }
  }
}

extension ProviderDelegate: @MainActor CXProviderDelegate {
  func providerDidReset(_ provider: CXProvider) {
    end.yield()
  }

  func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
    configureAudioSession()
    Task {
      if await network.invite(action.handle.value, for: action.callUUID) {
        action.fulfill()
      } else {
        action.fail()
      }
    }
  }

  func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
    configureAudioSession()
    Task {
      if await network.accept(action.callUUID) {
        action.fulfill()
      } else {
        action.fail()
      }
    }
  }

  func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
    network.hangUp(action.callUUID)
    action.fulfill()
  }

  // The system has activated the session: only now may the voice start.
  func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {
    network.startVoice(through: audioSession)
  }

  func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) {
    network.stopVoice()
    end.yield()
  }
}

/// Requests the actions of the app's own buttons.
@MainActor
final class CallRequests {
  private let controller = CXCallController(queue: .main)

  func start(_ call: UUID, to handle: String) {
    let handle = CXHandle(type: .generic, value: handle)
    send(CXStartCallAction(call: call, handle: handle))
  }

  func answer(_ call: UUID) {
    send(CXAnswerCallAction(call: call))
  }

  func end(_ call: UUID) {
    send(CXEndCallAction(call: call))
  }

  private func send(_ action: CXAction) {
    controller.request(CXTransaction(action: action)) { error in
      if let error { print("Refused: \(error)") }
    }
  }
}

/// A person to call, as a link or the list of recent calls names them.
struct StartCallRequest {
  let handle: String

  /// A link of the app's own: `monkey://bob@example.org`.
  init?(url: URL) {
    guard url.scheme == "monkey", let user = url.user, let host = url.host else { return nil }
    handle = "\(user)@\(host)"
  }

  /// A call that the user chose from the recent ones.
  init?(activity: NSUserActivity) {
    guard activity.activityType == INStartCallIntentIdentifier,
      let intent = activity.interaction?.intent as? INStartCallIntent,
      let handle = intent.contacts?.first?.personHandle?.value
    else { return nil }
    self.handle = handle
  }
}

let argument = CommandLine.arguments.dropFirst().first ?? "monkey://bob@example.org"
guard let request = URL(string: argument).flatMap({ StartCallRequest(url: $0) }) else {
  print("usage: Monkey monkey://NAME@HOST")
  exit(2)
}

// No sound card is needed yet.
AVAudioSession.sharedInstance().devices = .init(capture: .null, playback: .null)

let delegate = ProviderDelegate(network: Network())
let requests = CallRequests()

let call = UUID()
requests.start(call, to: request.handle)
try await Task.sleep(for: .seconds(3))
requests.end(call)
await delegate.waitForEnd()

let incoming = UUID()
if await delegate.reportIncomingCall(incoming, from: "alice@example.org") {
  try await Task.sleep(for: .seconds(1))
  requests.answer(incoming)
  try await Task.sleep(for: .seconds(3))
  delegate.reportFarSideHungUp(incoming)
  await delegate.waitForEnd()
}
delegate.invalidate()
