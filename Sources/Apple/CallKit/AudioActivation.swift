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

  /// Stops the voice at once, and releases the devices: soon, or with `keepingDevices` later, since
  /// another call may want them.
  ///
  /// Calls `completion` once they are released.
  func deactivateForCall(keepingDevices: Bool, completion: @escaping @Sendable () -> Void)

  /// Sets whether a call is on hold and none is active: no app may have the session then (R76).
  func setWithheldByCalls(_ isWithheld: Bool)

  /// Calls `handle`, on any thread, with what other programs ask of this one's calls from now on.
  func whenAsked(_ handle: @escaping @Sendable (CallArbiter.Request) -> Void)

  /// Lets the program that made way for this one's call resume its own (R75).
  func giveBack()
}

extension AVAudioSession: AudioActivation {}
