import RealTime
import Synchronization

/// Result of starting a device on the voice thread, for the thread that waits for it.
///
/// A device runs from its start on, while a new thread may have to wait for a processor. Started on
/// the thread that serves it, a loudspeaker does not run dry at once.
///
/// **Thread safety:** one thread answers, once; another waits, once.
final class DeviceStart: Sendable {
  private let isDone: WakeEvent
  private let error = Mutex<AudioDeviceError?>(nil)

  init() throws(SystemError) { isDone = try WakeEvent() }

  /// Calls `start` and reports the outcome; returns true if the device runs.
  func perform(_ start: () throws(AudioDeviceError) -> Void) -> Bool {
    defer { isDone.signal() }
    do throws(AudioDeviceError) {
      try start()
      return true
    } catch {
      self.error.withLock { $0 = error }
      return false
    }
  }

  /// Waits for the start; returns the device's error if it failed.
  func wait() -> AudioDeviceError? {
    isDone.wait()
    return error.withLock { $0 }
  }
}
