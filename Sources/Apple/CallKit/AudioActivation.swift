package import AVFAudio
package import DesktopServices

/// What the call system needs of the audio session: a port, so that it can be used and tested
/// without a sound card.
///
/// **Thread safety:** called on the call system's queue, which must not wait; completions may come
/// on any thread. Activations and deactivations take effect in the order of their calls.
package protocol AudioActivation: Sendable {
  /// Takes the devices at call priority; calls `completion` with nil once they are open, or with
  /// the error.
  func activateForCall(completion: @escaping @Sendable ((any Error)?) -> Void)

  /// Ends the voice at once and releases the devices: soon, or later if another call may want
  /// them. Then it calls `completion`.
  func deactivateForCall(keepingDevices: Bool, completion: @escaping @Sendable () -> Void)

  /// Whether calls exist and none has audio: no app may have the session then (R76).
  func setWithheldByCalls(_ isWithheld: Bool)

  /// Calls `handle`, on any thread, with what other programs ask of this one's calls from now on.
  func whenAsked(_ handle: @escaping @Sendable (CallArbiter.Request) -> Void)

  /// Lets the program that made way for this one's call resume its own (R75).
  func giveBack()
}

extension AVAudioSession: AudioActivation {}
