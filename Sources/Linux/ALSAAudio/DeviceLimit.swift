import RealTime
import Synchronization

/// Limits how long a sound device may take to open, start and close.
///
/// A sound server that hangs blocks its callers: ALSA's plugin for PulseAudio for 30 s, the one for
/// JACK for ever.
enum DeviceLimit {
  /// Time for an operation on a device, in milliseconds: connecting a Bluetooth headset takes three
  /// seconds.
  static let milliseconds = 5_000
  /// Time to wait for a device to close, in milliseconds: short, since only other programs need
  /// the device then.
  private static let closingMilliseconds = 1_000

  /// Number of operations on each device that have timed out and not returned, by its name.
  private static let unanswered = Mutex<[String: Int]>([:])

  /// Runs `work`, an operation on the device of that name, and returns its outcome.
  ///
  /// Throws the error of `work`, or `unresponsive` if the device does not answer within
  /// `milliseconds`, or at once while an earlier operation that timed out has not returned.
  /// Otherwise blocked threads would pile up.
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

  /// Runs `work`, which closes a device, and returns once it has, or after a second.
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
