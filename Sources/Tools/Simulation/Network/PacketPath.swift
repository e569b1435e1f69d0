package import MediaCore

/// A path of packets in one direction, which decides on their outcomes: a model, or a recorded
/// trace.
///
/// **Thread safety:** one thread at a time. Two threads may use the paths of a call's two
/// directions at once, so these share no state.
package protocol PacketPath {
  /// Returns the outcome for a packet of `byteCount` bytes that is sent at `instant`.
  ///
  /// Packets are passed in the order of their sending.
  mutating func fate(sentAt instant: MonotonicInstant, byteCount: Int)
    -> EmulatedNetwork.DeliveryOutcome

  /// Delay below which no packet arrives, in nanoseconds; 0 if that is not known.
  var leastDelay: Int64 { get }
}

extension PacketPath {
  /// Zero, as the least delay is not known.
  package var leastDelay: Int64 { 0 }
}

extension EmulatedNetwork: PacketPath {}
