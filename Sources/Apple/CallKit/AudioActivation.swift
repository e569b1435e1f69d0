package import AVFAudio
package import DesktopServices

/// The call system's interface to the audio session.
///
/// A port, so that the call system can be used and tested without a sound card.
///
/// **Thread safety:** called on the call system's queue, which must not wait; completions may come
/// on any thread. Activations and deactivations take effect in the order of their calls.
package protocol AudioActivation: Sendable {
  /// Opens the devices at call priority.
  ///
  /// Calls `completion` with nil once they are open, or with the error.
  func activateForCall(completion: @escaping @Sendable ((any Error)?) -> Void)

  /// Stops the voice at once and releases the devices, with `keepingDevices` only after a grace
  /// time, since another call may need them.
  ///
  /// Calls `completion` once they are released.
  func deactivateForCall(keepingDevices: Bool, completion: @escaping @Sendable () -> Void)

  /// Sets whether a call is on hold and none is active; the app cannot activate the session then
  /// (R76).
  func setWithheldByCalls(_ isWithheld: Bool)

  /// Sets the handler, called on any thread, of other programs' requests about this one's calls.
  func whenAsked(_ handle: @escaping @Sendable (CallArbiter.Request) -> Void)

  /// Lets the program that made way for this one's call resume its own (R75).
  func giveBack()
}

extension AVAudioSession: AudioActivation {}
