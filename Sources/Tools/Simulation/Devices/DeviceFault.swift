package import RealTime

/// A fault of a headset, or of the machine that it is plugged into.
package struct DeviceFault: Equatable, Sendable {
  /// Kind of a fault.
  package enum Kind: Equatable, Sendable {
    /// The program gets no processor: the card runs on, and its rings overflow and run dry (an
    /// xrun).
    case stopped
    /// The card stops, as when the machine is suspended.
    case suspended
    /// The sound server gets no processor, and the card stops.
    ///
    /// Afterwards the missed cycle and the next one follow at once, as with jackd.
    case starved
    /// The card is gone, for good if no duration is given, and has to be opened again.
    case unplugged
  }

  /// Kind of this fault.
  package var kind: Kind
  /// Beginning of the fault, in nanoseconds since the call began.
  package var at: Int64
  /// Duration of the fault, in nanoseconds.
  package var duration: Int64
  /// Sides that are unplugged; other faults affect both.
  package var sides: StreamDirections

  /// Creates a fault that begins `second` seconds into the call and lasts `milliseconds`; an
  /// unplugged card never comes back if that is 0.
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

  /// End of the fault, in nanoseconds since the call began.
  var end: Int64 { kind == .unplugged && duration == 0 ? .max : at + duration }
}
