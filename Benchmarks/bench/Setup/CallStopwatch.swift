import AVFAudio
import CallKit
import Foundation
import MediaCore
import RealTime
import Synchronization

/// A provider's delegate that fulfils actions at once, and notes the instants of the fulfilment and
/// of the session's activation.
final class CallStopwatch: NSObject, CXProviderDelegate, Sendable {
  /// The instants of one activation.
  struct Activation: Sendable {
    let fulfilled: MonotonicInstant
    let activated: MonotonicInstant
  }

  private let fulfilled = Mutex(MonotonicInstant(nanoseconds: 0))
  private let activation = Mutex<Activation?>(nil)
  private let isDone = DispatchSemaphore(value: 0)
  /// Closure called just before a start, answer or hold action is fulfilled.
  private let onFulfil: @Sendable () -> Void

  init(onFulfil: @escaping @Sendable () -> Void) {
    self.onFulfil = onFulfil
  }

  /// Waits for the next activation or deactivation, and returns the activation; nil if there was
  /// none within 20 s.
  func wait() -> Activation? {
    guard isDone.wait(timeout: .now() + 20) == .success else { return nil }
    return activation.withLock { activation in
      defer { activation = nil }
      return activation
    }
  }

  func providerDidReset(_ provider: CXProvider) {}

  func provider(_ provider: CXProvider, perform action: CXStartCallAction) { fulfil(action) }

  func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) { fulfil(action) }

  func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) { fulfil(action) }

  func provider(_ provider: CXProvider, perform action: CXEndCallAction) { action.fulfill() }

  private func fulfil(_ action: CXAction) {
    onFulfil()
    fulfilled.withLock { $0 = MonotonicClock.now() }
    action.fulfill()
  }

  func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {
    let now = MonotonicClock.now()
    let begin = fulfilled.withLock { $0 }
    activation.withLock { $0 = Activation(fulfilled: begin, activated: now) }
    isDone.signal()
  }

  func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) {
    isDone.signal()
  }

  func provider(
    _ provider: CXProvider,
    failedToActivate audioSession: AVAudioSession,
    error: any Error
  ) {
    print("the session could not be activated: \(error)")
    exit(1)
  }
}
