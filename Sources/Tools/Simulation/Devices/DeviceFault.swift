public import RealTime

/// Something that happens to a headset or to the machine it is plugged into.
public struct DeviceFault: Equatable, Sendable {
  /// What happens.
  public enum Kind: Equatable, Sendable {
    /// The program gets no processor: the card runs on, its rings overflow and run dry (an xrun).
    case stopped
    /// The card stands still, as when the machine is suspended or a sound server stalls.
    case suspended
    /// The card is gone, for good if no duration is given; it has to be opened again
    /// again.
    case unplugged
  }

  /// What happens.
  public var kind: Kind
  /// When, in nanoseconds since the call began.
  public var at: Int64
  /// For how long, in nanoseconds.
  public var duration: Int64
  /// The sides that are unplugged; other faults strike both.
  public var sides: StreamDirections

  /// A fault `second` seconds after the beginning, for `milliseconds`.
  public init(
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
