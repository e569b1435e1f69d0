import AVFoundation
import CallKit

/// The app's start and the ways in which it is asked to call: `AppDelegate` on the documentation
/// page *CallKit in Xamarin.iOS*.
@MainActor
final class AppDelegate {
  let callManager = ActiveCallManager()
  private let network: CallNetwork
  private let providerDelegate: ProviderDelegate

  init(network: CallNetwork) {
    self.network = network
    providerDelegate = ProviderDelegate(callManager: callManager, network: network)
    network.incomingCall = { [unowned self] connection, handle in
      receiveCall(from: handle, over: connection)
    }
  }

  /// Goes on the network; returns the addresses at which the app can be called.
  func finishedLaunching() async throws -> [String] { try await network.open() }

  /// Leaves the network; the far sides of all calls are notified first.
  func willTerminate() async {
    await network.close()
    providerDelegate.invalidate()
    do {
      // Returns when the devices of the last call are closed.
      try AVAudioSession.sharedInstance().setActive(false)
    } catch {
      print("The audio session is still in use: \(error)")
    }
  }

  /// Calls the person that a link names, for example `monkeycall://bob@192.168.1.20`.
  func openURL(_ url: URL) -> Bool { start(StartCallRequest(url: url)) }

  /// Calls the person that the user chose from the recent calls, or asked for aloud.
  func continueUserActivity(_ activity: NSUserActivity) -> Bool {
    start(StartCallRequest(activity: activity))
  }

  private func start(_ request: StartCallRequest?) -> Bool {
    guard let request else { return false }
    callManager.startCall(request.handle)
    return true
  }

  private func receiveCall(from handle: String, over connection: CallConnection) {
    let call = ActiveCall(
      uuid: UUID(),
      handle: handle,
      isOutgoing: false,
      connection: connection
    )
    Task { if await !providerDelegate.reportIncomingCall(call) { call.endCall() } }
  }
}
