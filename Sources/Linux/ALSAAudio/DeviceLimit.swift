import RealTime
import Synchronization

/// Limits how long a sound device may take to open, start and close.
///
/// A sound server that hangs blocks its callers: ALSA's plugin for PulseAudio for 30 s, the one for
/// JACK for ever.
enum DeviceLimit {
  /// A Bluetooth headset that is connected at its opening takes three seconds.
  static let milliseconds = 5_000
  /// Only other programs depend on when a device is closed.
  private static let closingMilliseconds = 1_000

  /// How many operations on each device have timed out and not returned.
  private static let unanswered = Mutex<[String: Int]>([:])

  /// The outcome of `work`, which asks the device of that name.
  ///
  /// Throws what `work` throws, or that the device does not answer: after five seconds, or at once
  /// while an operation that timed out has not returned. Otherwise blocked threads would pile up.
  static func perform<Outcome: ~Copyable & Sendable>(
    _ operation: String,
    on name: String,
    milliseconds: Int = milliseconds,
    policy: RealTimeThread.Policy = .ordinary,
    _ work: @escaping @Sendable () -> Result<Outcome, AudioDeviceError>
  ) throws(AudioDeviceError) -> Outcome {
    let silence = AudioDeviceError(
      kind: .unresponsive,
      device: name,
      operation: operation,
      reason: "it does not answer; restart the sound server or choose another device"
    )
    guard unanswered.withLock({ $0[name, default: 0] }) <= 0 else { throw silence }
    let outcome = TimeLimit.run(
      milliseconds: milliseconds,
      named: "device",
      policy: policy,
      late: { (outcome: consuming Result<Outcome, AudioDeviceError>) in
        // Closed before it is opened anew.
        _ = consume outcome
        note(name, by: -1)
      },
      work
    )
    guard let outcome else {
      note(name, by: 1)
      throw silence
    }
    return try outcome.get()
  }

  /// Returns when `work`, which closes a device, has returned, or after a second.
  static func performClosing(_ work: @escaping @Sendable () -> Void) {
    _ = TimeLimit.run(milliseconds: closingMilliseconds, named: "closing", work)
  }

  // An operation that ends just at the limit may be counted down before it is counted up.
  private static func note(_ name: String, by change: Int) {
    unanswered.withLock { unanswered in
      let count = unanswered[name, default: 0] + change
      unanswered[name] = count == 0 ? nil : count
    }
  }
}
