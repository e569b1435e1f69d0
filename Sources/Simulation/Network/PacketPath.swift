public import MediaTime

/// What decides over the fate of packets in one direction: a model, or what was recorded.
public protocol PacketPath {
  /// What becomes of a packet of `byteCount` bytes that is sent at `instant`, which is not before the last one.
  mutating func fate(sentAt instant: MonotonicInstant, byteCount: Int) -> EmulatedNetwork.Fate

  /// No packet arrives sooner after it was sent, in nanoseconds; 0 if that is not known.
  var leastDelay: Int64 { get }
}

extension PacketPath {
  /// Not known.
  public var leastDelay: Int64 { 0 }
}

extension EmulatedNetwork: PacketPath {}
