package import RealTime

/// Something that happens to a headset or to the machine it is plugged into.
package struct DeviceFault: Equatable, Sendable {
  /// What happens.
  package enum Kind: Equatable, Sendable {
    /// The program gets no processor: the card runs on, its rings overflow and run dry (an xrun).
    case stopped
    /// The card stands still, as when the machine is suspended.
    case suspended
    /// The sound server gets no processor, and the card stands still; the cycle that it misses
    /// begins afterwards, and the next one at once, as jackd has it.
    case starved
    /// The card is gone, for good if no duration is given; it has to be opened again.
    case unplugged
  }

  /// What happens.
  package var kind: Kind
  /// When, in nanoseconds since the call began.
  package var at: Int64
  /// For how long, in nanoseconds.
  package var duration: Int64
  /// The sides that are unplugged; other faults strike both.
  package var sides: StreamDirections

  /// A fault `second` seconds after the beginning, for `milliseconds`.
  package init(
    _ kind: Kind,
    second: Double,
    milliseconds: Double = 0,
    sides: StreamDirections = .both
  ) {
    self.kind = kind
    self.sides = sides
    at = Int64(max(0, min(1e9, second)) * 1e9)
    duration = Int64(max(0, min(1e9, milliseconds)) * 1e6)
  }

  /// When it is over, in nanoseconds since the call began.
  var end: Int64 { kind == .unplugged && duration == 0 ? .max : at + duration }
}
