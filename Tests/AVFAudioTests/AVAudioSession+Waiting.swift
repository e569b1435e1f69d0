@testable import AVFAudio
import Dispatch

extension AVAudioSession {
  /// Takes the devices for a call, and waits until they are open.
  func activateForCall() async throws {
    let failure = await withCheckedContinuation { continuation in
      activateForCall { continuation.resume(returning: $0) }
    }
    if let failure { throw failure }
  }

  /// Ends a call's voice, and waits until the devices are released.
  func endCall() {
    deactivateForCall(keepingDevices: false) {}
    operations.sync {}
  }
}
