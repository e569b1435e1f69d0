/// Something that happens to a headset or to the machine it is plugged into.
public struct DeviceFault: Equatable, Sendable {
  /// What happens.
  public enum Kind: Equatable, Sendable {
    /// The program gets no processor: the card runs on, its rings overflow and run dry (an xrun).
    case stopped
    /// The card stands still, as when the machine is suspended or a sound server stalls.
    case suspended
    /// The card takes and gives nothing and is gone for good.
    case unplugged
  }

  /// What happens.
  public var kind: Kind
  /// When, in nanoseconds since the call began.
  public var at: Int64
  /// For how long, in nanoseconds; without meaning for what is for good.
  public var duration: Int64

  /// A fault `second` seconds after the beginning, for `milliseconds`.
  public init(_ kind: Kind, second: Double, milliseconds: Double = 0) {
    self.kind = kind
    at = Int64(max(0, min(1e9, second)) * 1e9)
    duration = Int64(max(0, min(1e9, milliseconds)) * 1e6)
  }
}
